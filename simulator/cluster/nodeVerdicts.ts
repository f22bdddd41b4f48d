import type { JudgedTerms, SourcedVerdict, VerdictSource } from '../driver/index.js';
import type { LoadedModule } from '../executor/index.js';
import { VerdictLibrary, type VerdictMetrics } from '../idempotency/index.js';
import type { IrFunction } from '../ptx/index.js';

/**
 * Verdicts of a node's launches. A kernel is analysed when its first launch is submitted, as if that had been done when its
 * module was made: analysis is offline and takes no simulated time.
 */
export class NodeVerdicts implements VerdictSource {
  private readonly library = new VerdictLibrary();

  judge(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict {
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

  get metrics(): VerdictMetrics {
    return this.library.metrics;
  }
}
