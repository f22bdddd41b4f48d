import {
  analyzeKernel,
  type KernelSummary,
  type ValidatedLaunch,
} from '../../../simulator/idempotency/index.js';
import {
  bodyModule,
  corpusBodies,
  corpusInstance,
  instanceCount,
  OracleBench,
  type CorpusBody,
} from '../../../simulator/laboratory/verdicts/index.js';

export interface ConditionalKernel {
  readonly body: CorpusBody;
  readonly summary: KernelSummary;
  readonly launches: readonly ValidatedLaunch[];
}

/** Bodies of the corpus whose launches have to be looked at, with up to `most` launches of each. */
export function* conditionalKernels(
  most: number,
  isWanted: (body: CorpusBody) => boolean,
): Generator<ConditionalKernel> {
  const bench = new OracleBench();
  for (const body of corpusBodies()) {
    if (!isWanted(body)) continue;
    const summary = analyzeKernel(bodyModule(body), body.manifest.entry);
    if (summary.class !== 'conditional') continue;
    const count = Math.min(most, instanceCount(body));
    const launches = Array.from({ length: count }, (_, index) =>
      bench.with(corpusInstance(body, index), ({ launch: { params, shape, module } }) => ({
        params,
        shape,
        symbols: module.symbols,
      })),
    );
    yield { body, summary, launches };
  }
}
