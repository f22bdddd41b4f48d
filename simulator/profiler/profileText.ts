import { coverageText, plural } from './coverageText.js';
import { LINE_FIGURES, SORTS, TOTAL_FIGURES, type Figure, type SortKey } from './figures.js';
import { countText, figureText, ratioText, shareText, timeText } from './numbers.js';
import type {
  KernelProfile,
  LaunchOccupancy,
  LaunchProfile,
  ProfiledLine,
  ProfileReport,
} from './profileReport.js';

export interface ProfileTextOptions {
  readonly sort?: SortKey;
  /** Lines to show of each kernel. */
  readonly top?: number;
}

export const DEFAULT_TOP = 20;

const RULE = '==PROF==';
const MARGIN = '  ';

/** The report for people. */
export function profileText(report: ProfileReport, options: ProfileTextOptions = {}): string {
  const text = report.kernels.map((kernel) => kernelText(kernel, options).join('\n')).join('\n\n');
  // Names and sources are of files that may be anybody's: they move no terminal's cursor.
  return text.replace(/[^\P{Cc}\n]/gu, '\ufffd');
}

function kernelText(kernel: KernelProfile, options: ProfileTextOptions): string[] {
  const lines = [
    `${RULE} ${kernel.kernel} (${kernel.ptxFile}): ${plural(kernel.launches.length, 'launch', 'launches')}`,
  ];
  kernel.launches.forEach((launch, index) => lines.push(...launchText(launch, index)));
  lines.push('', `${MARGIN}Totals`, ...totalsText(kernel));
  lines.push('', `${MARGIN}Instruction mix`, ...mixText(kernel));
  lines.push('', ...hotText(kernel, options), ...sourceText(kernel, options));
  for (const note of kernel.notes) lines.push('', `${MARGIN}note: ${note}`);
  return lines;
}

function launchText(launch: LaunchProfile, index: number): string[] {
  const { spec, grid, block, dynamicSharedBytes, device, coverage, gpuTimeUs, dramBytes, occupancy } = launch;
  const add = (heading: string, text: string): string => `${MARGIN}${heading.padEnd(14)}${text}`;
  const shared = dynamicSharedBytes === 0 ? '' : `, ${plural(dynamicSharedBytes, 'byte')} dynamic shared`;
  const lines = [
    '',
    `${MARGIN}Launch ${index + 1}: ${spec}`,
    add('shape', `grid ${grid.join('x')}, block ${block.join('x')}${shared}, on ${device}`),
  ];
  if (gpuTimeUs !== undefined) {
    const dram = dramBytes === undefined ? '' : `, ${plural(dramBytes, 'byte')} of DRAM traffic`;
    lines.push(add('GPU time', `${timeText(gpuTimeUs)} simulated${dram} (gpu__time_duration.sum)`));
  }
  lines.push(
    add('coverage', coverageText(coverage)),
    ...occupancyText(occupancy).map((text) => add('occupancy', text)),
  );
  if (launch.barriersOpened > 0)
    lines.push(add('barriers', `${plural(launch.barriersOpened, 'barrier')} of traced blocks opened`));
  if (launch.fault !== undefined) lines.push(add('FAULT', `${launch.fault.code}: ${launch.fault.message}`));
  return lines;
}

function occupancyText(found: LaunchOccupancy): string[] {
  const each = Object.entries(found.limits).map(([limit, fits]) => `${limit} ${fits}`);
  return [
    `${plural(found.blocksPerSm, 'block')} and ${plural(found.warpsPerSm, 'warp')} an SM, ${shareText(found.share)} of its warps; bound by ${found.boundBy.join(', ')} (blocks an SM by limit: ${each.join(', ')})`,
    `${found.registersPerThread} registers a thread (estimated), ${plural(found.staticSharedBytes, 'byte')} static and ${countText(found.dynamicSharedBytes)} dynamic shared a block; ${ratioText(found.waves)} waves on ${found.sms} SMs`,
  ];
}

function totalsText({ totals }: KernelProfile): string[] {
  const shown = TOTAL_FIGURES.flatMap((figure) => {
    const value = figure.of(totals);
    return value === undefined ? [] : [[figure.heading, figureText(figure, value), figure.ncu ?? '']];
  });
  return aligned(shown, ['left', 'right', 'left']).map((line) => `${MARGIN}${MARGIN}${line}`);
}

function mixText({ mix, totals }: KernelProfile): string[] {
  const entries = Object.entries(mix).sort(([, a], [, b]) => b - a);
  const rows = entries.map(([name, count]) => {
    const share = count / totals.warpInstructions;
    return [name, countText(count), shareText(share), '#'.repeat(Math.round(share * 40))];
  });
  return aligned(rows, ['left', 'right', 'right', 'left']).map((line) => `${MARGIN}${MARGIN}${line}`);
}

/** Lines in the order asked for, those of nothing left out. */
export function sortedLines<L extends Pick<ProfiledLine, 'counts'>>(lines: readonly L[], sort: SortKey): L[] {
  const by = SORTS[sort];
  if (sort === 'line') return lines.filter(({ counts }) => (counts.threadInstructions ?? 0) > 0);
  return lines.filter(({ counts }) => by(counts) > 0).sort((a, b) => by(b.counts) - by(a.counts));
}

function hotText(kernel: KernelProfile, { sort = 'warp', top = DEFAULT_TOP }: ProfileTextOptions): string[] {
  const sorted = sortedLines(kernel.lines, sort);
  const shown = sorted.slice(0, top);
  const title = `${MARGIN}Lines of ${kernel.ptxFile} by ${sort} (${shown.length} of ${sorted.length})`;
  if (shown.length === 0) return [`${title}: none counted`];
  const rows = shown.map((line) => [
    ...figureCells(line, kernel.totals.warpInstructions),
    String(line.line),
    line.sourceFile === undefined
      ? ''
      : `${line.sourceFile.split(/[/\\]/).at(-1) ?? ''}:${line.sourceLine ?? 0}`,
    `${line.text}${line.isUnseen === true ? '  (in no traced block)' : ''}`,
  ]);
  return [title, ...tableText(rows, ['line', 'source', 'instruction'])];
}

function sourceText(
  kernel: KernelProfile,
  { sort = 'warp', top = DEFAULT_TOP }: ProfileTextOptions,
): string[] {
  if (kernel.sourceLines.length === 0) return [];
  const sorted = sortedLines(kernel.sourceLines, sort);
  const shown = sorted.slice(0, top);
  const rows = shown.map((line) => [
    ...figureCells(line, kernel.totals.warpInstructions),
    String(line.line),
    line.file.split(/[/\\]/).at(-1) ?? '',
    (line.text ?? '').trim(),
  ]);
  if (rows.length === 0) return [];
  return [
    '',
    `${MARGIN}Source lines by ${sort} (${shown.length} of ${sorted.length})`,
    ...tableText(rows, ['line', 'file', 'source']),
  ];
}

const FIGURES: readonly Figure[] = Object.values(LINE_FIGURES);

function figureCells(line: Pick<ProfiledLine, 'counts' | 'traced'>, warpInstructions: number): string[] {
  const share = (line.counts.warpInstructions ?? 0) / Math.max(1, warpInstructions);
  return [
    shareText(share),
    ...FIGURES.map((figure) => figureText(figure, figure.of(line.counts, line.traced))),
  ];
}

/** Columns that say nothing are left out. */
function tableText(rows: readonly string[][], last: readonly string[]): string[] {
  const headings = ['share', ...FIGURES.map(({ heading }) => heading), ...last];
  const used = headings.map((_, column) => rows.some((row) => row[column] !== ''));
  const keep = (row: readonly string[]): string[] => row.filter((_, column) => used[column]);
  const sides = keep(headings).map((heading): 'left' | 'right' =>
    heading === 'instruction' || heading === 'source' || heading === 'file' ? 'left' : 'right',
  );
  return aligned([keep(headings), ...rows.map(keep)], sides).map((line) => `${MARGIN}${MARGIN}${line}`);
}

function aligned(rows: readonly (readonly string[])[], sides: readonly ('left' | 'right')[]): string[] {
  const widths = sides.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        sides[column] === 'left' ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
}
