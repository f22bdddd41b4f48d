import {
  WasmExecutor,
  type BlockRange,
  type Executor,
  type ExecutorLaunch,
  type ExecutorVariant,
  type NodeMemory,
  type RunResult,
  type TraceSink,
} from '../../../simulator/executor/index.js';
import type {
  AccessJournal,
  AccessProfile,
  SuspendedRun,
} from '../../../simulator/executor/testing/index.js';
import {
  analyzeKernel,
  compileValidator,
  type KernelSummary,
  type Validator,
} from '../../../simulator/idempotency/index.js';
import type { CoverFinding, IntervalSource } from '../../../simulator/laboratory/verdicts/index.js';
import type { IrFunction } from '../../../simulator/ptx/index.js';
import { predictedOf } from './validation.js';

/** What was held to predictions. */
export interface CoverTotals {
  /** Parts of launches that ran at once. */
  runs: number;
  readonly kernels: Set<string>;
  accesses: number;
  /** Of those: of instructions of which anything was predicted, since the address is not known beforehand. */
  open: number;
  /** Runs that wait for others, of which there is no journal. */
  unseen: number;
  readonly uncovered: (CoverFinding & { readonly kernel: string })[];
}

export function emptyCover(): CoverTotals {
  return { runs: 0, kernels: new Set(), accesses: 0, open: 0, unseen: 0, uncovered: [] };
}

/** Findings that are kept. */
const MOST_FOUND = 100;

/** Runs launches as they come and holds every access to global memory to what the validator had predicted of its instruction. */
export class CoveringExecutor implements Executor {
  private readonly executor: WasmExecutor;
  private readonly validators = new WeakMap<IrFunction, Validator>();

  /** @param change of what analysis found, for tests */
  constructor(
    memory: NodeMemory,
    private readonly totals: CoverTotals,
    private readonly change: (summary: KernelSummary) => KernelSummary = (summary) => summary,
  ) {
    this.executor = new WasmExecutor(memory);
  }

  run(launch: ExecutorLaunch, range: BlockRange, variant: ExecutorVariant, fuel: number): RunResult {
    if (variant === 'resumable') {
      this.totals.unseen++;
      return this.executor.run(launch, range, variant, fuel);
    }
    const source = this.predicted(launch);
    const result = this.executor.run(launch, range, 'observed', fuel);
    if (result.journal !== undefined) this.check(result.journal, launch.kernel, source);
    return result;
  }

  resume(suspended: SuspendedRun, fuel: number): RunResult {
    return this.executor.resume(suspended, fuel);
  }

  needsWholeGrid(launch: ExecutorLaunch): boolean {
    return this.executor.needsWholeGrid(launch);
  }

  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    return this.executor.profile(launch, blocks);
  }

  trace(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void {
    this.executor.trace(launch, blocks, sink);
  }

  close(): void {
    this.executor.close();
  }

  private predicted({ module, kernel, params, shape }: ExecutorLaunch): IntervalSource {
    let validator = this.validators.get(kernel);
    if (validator === undefined) {
      validator = compileValidator(this.change(analyzeKernel(module.ir, kernel.name)));
      this.validators.set(kernel, validator);
      this.totals.kernels.add(`${module.ir.file} ${kernel.name}`);
    }
    return predictedOf(validator, { params, shape, symbols: module.symbols }, kernel);
  }

  /** By instruction, since accesses come by the million: each once, with the bytes that all its accesses span. */
  private check(journal: AccessJournal, kernel: IrFunction, source: IntervalSource): void {
    const { totals } = this;
    totals.runs++;
    const instructions = new Map<number, Covered>();
    for (let index = 0; index < journal.length; index++) {
      const { instruction, kind, address, bytes } = journal.at(index);
      let covered = instructions.get(instruction);
      if (covered === undefined) {
        covered = new Covered(kernel, instruction, kind, source);
        instructions.set(instruction, covered);
      }
      totals.accesses++;
      if (covered.isOpen) totals.open++;
      const rw = covered.outside(address, bytes);
      if (rw === undefined || totals.uncovered.length >= MOST_FOUND) continue;
      totals.uncovered.push({
        kernel: kernel.name,
        line: covered.line,
        instruction,
        rw,
        address,
        bytes,
      });
    }
  }
}

/** What was predicted of one instruction. */
class Covered {
  readonly line: number;
  readonly isOpen: boolean;
  private readonly sides: readonly {
    readonly rw: 'R' | 'W';
    readonly intervals: ReturnType<IntervalSource['predictedIntervals']>;
  }[];

  constructor(
    kernel: IrFunction,
    instruction: number,
    kind: 'load' | 'store' | 'atomic',
    source: IntervalSource,
  ) {
    this.line = kernel.instructions[instruction].line;
    const sides = ({ load: ['R'], store: ['W'], atomic: ['R', 'W'] } as const)[kind];
    this.sides = sides.map((rw) => ({ rw, intervals: source.predictedIntervals(this.line, rw) }));
    this.isOpen = this.sides.every(
      ({ intervals }) => intervals === 'anything' || intervals.some(isUnbounded),
    );
  }

  /** Where an access was not predicted. */
  outside(address: number, bytes: number): 'R' | 'W' | undefined {
    for (const { rw, intervals } of this.sides) {
      if (intervals === 'anything') continue;
      if (!intervals.some(({ lo, hi }) => lo <= address && address + bytes - 1 <= hi)) return rw;
    }
    return undefined;
  }
}

function isUnbounded({ lo, hi }: { readonly lo: number; readonly hi: number }): boolean {
  return lo === -Infinity || hi === Infinity;
}
