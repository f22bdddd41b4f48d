import type { AccessRanges, JudgedTerms, SourcedVerdict, VerdictSource } from '../driver/index.js';
import type { LoadedModule } from '../executor/index.js';
import type { CostLibrary } from '../gpu/index.js';
import { VERDICT_COSTS, VerdictLibrary, type VerdictMetrics } from '../idempotency/index.js';
import type { IrFunction } from '../ptx/index.js';

/**
 * Verdicts of a node's launches. A kernel is analysed when its first launch is submitted, as if that had been done when its
 * module was made: analysis is offline and takes no simulated time.
 */
export class NodeVerdicts implements VerdictSource {
  private readonly library = new VerdictLibrary();

  /** @param costs of a node that executes nothing: they may tell verdicts of kernels that have no code */
  constructor(private readonly costs?: CostLibrary) {}

  judge(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict {
    return this.told(kernel, launch) ?? this.found(module, kernel, launch);
  }

  get metrics(): VerdictMetrics {
    return this.library.metrics;
  }

  private told(kernel: IrFunction, { identity, shape }: JudgedTerms): SourcedVerdict | undefined {
    const verdict = this.costs?.verdictOf({
      module: identity,
      kernel: kernel.name,
      shape,
      scalars: NO_SCALARS,
    });
    if (verdict === undefined) return undefined;
    const costNs = verdict.of === 'kernel' ? VERDICT_COSTS.kernelNs : VERDICT_COSTS.launchNs;
    return { ...verdict, costNs, ranges: NO_RANGES };
  }

  private found(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict {
    if (this.library.validatorOf(module, kernel) === undefined) while (this.library.analyseNext());
    const { idempotent, kind, cause, costNs, validator } = this.library.judge(module, kernel, launch);
    return {
      idempotent,
      of: kind === 'launch' ? 'launch' : 'kernel',
      cause: kind === 'pending' ? 'pending' : cause,
      costNs,
      ranges: validator?.intervals(launch),
    };
  }
}

/** Kernels without code have no arguments. */
const NO_SCALARS = (): string => '';

/** Nor memory that anything else could touch. */
const NO_RANGES: AccessRanges = { isComplete: true, count: 0, lo: [], hi: [], isWrite: [] };
