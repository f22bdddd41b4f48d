import { classOf, type InstructionClass } from '../executor/index.js';
import { sourceLines, type IrFunction, type SourceLine } from '../ptx/index.js';
import { addCounts, METRICS, noCounts, type Counts, type Metric } from './metrics.js';
import type { CountedLaunch } from './profileLaunch.js';
import type { ProfiledLine, ProfiledSourceLine, TracedOnly } from './profileReport.js';

interface LineSum {
  readonly counts: Counts;
  readonly classes: Set<InstructionClass>;
  distinctSectors: number;
  hottestAddress: number;
  isUnseen: boolean;
}

/** Adds up the counts of a kernel's launches by lines of its PTX text. */
export class LineTable {
  readonly totals: Counts = noCounts();
  readonly mix: Partial<Record<InstructionClass, number>> = {};
  /** The module's text. */
  readonly texts: readonly string[];
  private readonly sources: readonly (SourceLine | undefined)[];
  private readonly sums = new Map<number, LineSum>();

  /** @param ptx text of the kernel's module */
  constructor(
    private readonly kernel: IrFunction,
    ptx: string,
  ) {
    this.texts = ptx.split('\n');
    this.sources = sourceLines(this.texts);
    for (const instruction of kernel.instructions)
      this.sumOf(instruction.line).classes.add(classOf(instruction));
  }

  /** @returns the launch's totals */
  add({ sink, unseen }: CountedLaunch): Counts {
    const launch = noCounts();
    for (const instruction of this.kernel.instructions) {
      const { index } = instruction;
      const counts = noCounts();
      sink.table.addTo(counts, index);
      const sum = this.sumOf(instruction.line);
      addCounts(sum.counts, counts);
      addCounts(launch, counts);
      sum.distinctSectors += sink.distinctSectors(index);
      sum.hottestAddress = Math.max(sum.hottestAddress, sink.hottestAddress(index));
      sum.isUnseen ||= unseen.has(index);
      const kind = classOf(instruction);
      if (counts.warpInstructions > 0) this.mix[kind] = (this.mix[kind] ?? 0) + counts.warpInstructions;
    }
    addCounts(this.totals, launch);
    return launch;
  }

  lines(): ProfiledLine[] {
    return [...this.sums]
      .sort(([a], [b]) => a - b)
      .map(([line, sum]) => {
        const { counts, classes, isUnseen } = sum;
        const source = this.sources[line];
        return {
          line,
          text: instructionText(this.texts[line - 1] ?? ''),
          ...(source === undefined ? {} : { sourceFile: source.file, sourceLine: source.line }),
          classes: [...classes],
          counts: withoutZeros(counts),
          traced: tracedOf(sum),
          ...(isUnseen ? { isUnseen } : {}),
        };
      });
  }

  /** Names of the source files that the kernel's instructions were made of. */
  sourceFiles(): string[] {
    const files = [...this.sums.keys()].flatMap((line) => this.sources[line]?.file ?? []);
    return [...new Set(files)].sort();
  }

  /** @param textOf a line of a source file, where the file is at hand */
  bySource(textOf: (file: string, line: number) => string | undefined): ProfiledSourceLine[] {
    const sums = new Map<string, { source: SourceLine; sum: LineSum; lines: number[] }>();
    for (const [line, sum] of this.sums) {
      const source = this.sources[line];
      if (source === undefined) continue;
      const key = `${source.line} ${source.file}`;
      let known = sums.get(key);
      if (known === undefined) sums.set(key, (known = { source, sum: newSum(), lines: [] }));
      addCounts(known.sum.counts, sum.counts);
      known.sum.distinctSectors += sum.distinctSectors;
      known.sum.hottestAddress = Math.max(known.sum.hottestAddress, sum.hottestAddress);
      known.lines.push(line);
    }
    return [...sums.values()]
      .sort((a, b) => compareText(a.source.file, b.source.file) || a.source.line - b.source.line)
      .map(({ source: { file, line }, sum, lines }) => {
        const text = textOf(file, line);
        return {
          file,
          line,
          ...(text === undefined ? {} : { text }),
          counts: withoutZeros(sum.counts),
          traced: tracedOf(sum),
          ptxLines: lines.sort((a, b) => a - b),
        };
      });
  }

  private sumOf(line: number): LineSum {
    let sum = this.sums.get(line);
    if (sum === undefined) this.sums.set(line, (sum = newSum()));
    return sum;
  }
}

function newSum(): LineSum {
  return { counts: noCounts(), classes: new Set(), distinctSectors: 0, hottestAddress: 0, isUnseen: false };
}

function tracedOf({ distinctSectors, hottestAddress }: LineSum): TracedOnly {
  return { distinctSectors, hottestAddress };
}

function withoutZeros(counts: Counts): Partial<Record<Metric, number>> {
  return Object.fromEntries(METRICS.filter((name) => counts[name] !== 0).map((name) => [name, counts[name]]));
}

/** Without its comment and the blanks around it; control characters of a file do not reach a terminal. */
function instructionText(line: string): string {
  return line
    .replace(/\/\/.*/, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
