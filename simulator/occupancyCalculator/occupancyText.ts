import type { LimitRow, OccupancyReport } from './occupancyReport.js';
import { percent } from '../text/index.js';

const KIB = 1024;

/** The report for people. */
export function occupancyText(report: OccupancyReport): string {
  const { kernel, ptxFile, device, threads, warps, registersPerThread, registers } = report;
  const { staticSharedBytes, dynamicSharedBytes, blocksPerSm, warpsPerSm, mostWarpsPerSm, share } = report;
  const lines = [
    `${kernel} (${ptxFile}) on ${device}: blocks of ${report.block.join('x')}, ${plural(threads, 'thread')} or ${plural(warps, 'warp')}`,
    `  registers      ${registersPerThread} a thread, ${registers}`,
    `  shared memory  ${whole(staticSharedBytes)} bytes static and ${whole(dynamicSharedBytes)} dynamic a block`,
    `  occupancy      ${plural(blocksPerSm, 'block')} and ${warpsPerSm} of ${mostWarpsPerSm} warps an SM, ${percent(share)}; bound by ${report.boundBy.join(', ')}`,
    `  memory of SM   ${splitText(report)}`,
    `  grid           ${report.grid.join('x')}, ${plural(report.blocks, 'block')} on ${plural(report.sms, 'SM')}: ${wavesText(report)}`,
    ...clusterLines(report),
    '',
    ...columns(
      ['limit', 'a block takes', 'an SM has', 'blocks an SM', ''],
      report.limits.map((row) => limitCells(row, report)),
    ),
    '',
    ...columns(
      ['block', 'blocks an SM', 'warps an SM', 'occupancy', ''],
      report.byBlockSize.map((row) => [
        String(row.threads),
        String(row.blocksPerSm),
        String(row.warpsPerSm),
        percent(row.share),
        row.threads === threads ? '  <-' : '',
      ]),
    ),
  ];
  return lines.map((line) => line.trimEnd()).join('\n');
}

function splitText({ sharedConfigurationBytes, l1Bytes, carveoutPercent }: OccupancyReport): string {
  const wish = carveoutPercent === undefined ? '' : ` (${carveoutPercent}% preferred)`;
  const cache = l1Bytes === 0 ? 'no L1 cache beside it' : `${l1Bytes / KIB} KiB of L1 cache beside it`;
  return `${sharedConfigurationBytes / KIB} KiB shared${wish}, ${cache}`;
}

function clusterLines({ cluster }: OccupancyReport): string[] {
  if (cluster === undefined) return [];
  const { blocks, active } = cluster;
  return [
    `  clusters       ${plural(blocks, 'block')} each, ${active} on the device at once, each in one GPC`,
  ];
}

function wavesText({ blocksPerSm, waves }: OccupancyReport): string {
  return blocksPerSm === 0 ? 'not one fits' : `${waves.toFixed(2)} waves`;
}

function limitCells({ limit, blockTakes, smHas, blocksPerSm }: LimitRow, report: OccupancyReport): string[] {
  const binds = report.boundBy.includes(limit) ? '  <-' : '';
  return [limit, whole(blockTakes), whole(smHas), String(blocksPerSm), binds];
}

/** The first column to the left, numbers to the right. */
function columns(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return all.map((cells) => {
    const padded = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 || column === cells.length - 1 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `  ${padded.join('  ')}`;
  });
}

function whole(value: number): string {
  return value.toLocaleString('en-US');
}

function plural(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;
}
