import type { AccessRanges, JudgedTerms, SourcedVerdict, VerdictSource } from '../driver/index.js';
import type { LoadedModule } from '../executor/index.js';
import type { CostLibrary } from '../gpu/index.js';
import {
  VERDICT_COSTS,
  VerdictLibrary,
  type KernelAnalysis,
  type VerdictCosts,
  type VerdictMetrics,
} from '../idempotency/index.js';
import type { IrFunction } from '../ptx/index.js';

/** A kernel that a node has in a module and knows nothing of. Plain data. */
export interface UnknownKernel {
  /** Of its content: the same code has the same key, in whatever module. */
  readonly key: string;
  readonly kernel: string;
  readonly ptx: string;
  readonly file: string;
}

/**
 * Analyses kernels while a node goes on, and gives what it finds to `GpuNode.takeAnalysis`. When that is, is an input of the
 * simulation, as the submission of a command is.
 */
export interface KernelAnalyst {
  /** Once for each content, when a module with it is loaded. Must neither throw nor answer inside the call. */
  onUnknownKernel(kernel: UnknownKernel): void;
}

export interface NodeVerdictOptions {
  /** Of a node that executes nothing: they may tell verdicts of kernels that have no code. */
  readonly costs?: CostLibrary | undefined;
  readonly analyst?: KernelAnalyst | undefined;
  /** What was analysed already. */
  readonly known?: readonly KernelAnalysis[] | undefined;
  /** What verdicts take of the submitting thread, in simulated time; `VERDICT_COSTS` unless given. */
  readonly verdictCosts?: VerdictCosts | undefined;
  /** Nanoseconds of host time, for latencies in the metrics. */
  readonly stopwatchNs?: (() => number) | undefined;
}

/**
 * Verdicts of a node's launches. With an analyst a kernel's launches are refused until what was found of it is there. Without one it
 * is analysed when its first launch is submitted, as if that had been done when its module was made: offline, in no simulated time.
 */
export class NodeVerdicts implements VerdictSource {
  private readonly library: VerdictLibrary;

  constructor(private readonly options: NodeVerdictOptions = {}) {
    const { stopwatchNs, known = [], verdictCosts = VERDICT_COSTS } = options;
    this.library = new VerdictLibrary({
      costs: verdictCosts,
      ...(stopwatchNs === undefined ? {} : { stopwatchNs }),
    });
    for (const analysis of known) this.library.take(analysis);
  }

  /** A module is there, with kernels that may be unknown. */
  onModule({ ir }: LoadedModule, ptx: string): void {
    const { analyst } = this.options;
    if (analyst === undefined) return;
    for (const kernel of ir.functions) {
      if (!kernel.isEntry) continue;
      const key = this.library.request(ir, kernel);
      if (key !== undefined) analyst.onUnknownKernel({ key, kernel: kernel.name, ptx, file: ir.file });
    }
  }

  take(analysis: KernelAnalysis): void {
    this.library.take(analysis);
  }

  /** What a copy of the node has to know; nothing where all can be analysed again. */
  taken(): readonly KernelAnalysis[] | undefined {
    const taken = this.library.taken();
    return taken.length === 0 ? undefined : taken;
  }

  judge(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict {
    return this.told(kernel, launch) ?? this.found(module, kernel, launch);
  }

  get metrics(): VerdictMetrics {
    return this.library.metrics;
  }

  private told(kernel: IrFunction, { identity, shape }: JudgedTerms): SourcedVerdict | undefined {
    const verdict = this.options.costs?.verdictOf({
      module: identity,
      kernel: kernel.name,
      shape,
      scalars: NO_SCALARS,
    });
    if (verdict === undefined) return undefined;
    const { verdictCosts = VERDICT_COSTS } = this.options;
    const costNs = verdict.of === 'kernel' ? verdictCosts.kernelNs : verdictCosts.launchNs;
    return { ...verdict, costNs, keptNs: verdictCosts.kernelNs, ranges: NO_RANGES };
  }

  private found(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict {
    const isOffline = this.options.analyst === undefined;
    if (isOffline && this.library.validatorOf(module, kernel) === undefined)
      while (this.library.analyseNext());
    const { idempotent, kind, cause, costNs, validator } = this.library.judge(module, kernel, launch);
    return {
      idempotent,
      of: kind === 'launch' ? 'launch' : 'kernel',
      cause: kind === 'pending' ? 'pending' : cause,
      costNs,
      keptNs: (this.options.verdictCosts ?? VERDICT_COSTS).kernelNs,
      ranges: validator?.intervals(launch),
    };
  }
}

/** Kernels without code have no arguments. */
const NO_SCALARS = (): string => '';

/** Nor memory that anything else could touch. */
const NO_RANGES: AccessRanges = { isComplete: true, count: 0, lo: [], hi: [], isWrite: [] };
