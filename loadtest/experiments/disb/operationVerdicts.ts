import { AllocationMap, analyzeKernel, compileValidator } from '../../../simulator/idempotency/index.js';
import {
  OracleBench,
  bodyModule,
  corpusBodies,
  drawInstance,
} from '../../../simulator/laboratory/verdicts/index.js';
import type { OperationKind } from './network.js';

/** What the system says of a launch that does an operation. */
export interface OperationVerdict {
  /** The kernel of the corpus that it is of. */
  readonly kernel: string;
  readonly idempotent: boolean;
  readonly cause?: string;
  /** Whether the kernel decides, whatever its arguments. */
  readonly isOfKernel: boolean;
}

const KERNELS: Readonly<Record<OperationKind, string>> = {
  convolution: 'convBlocks3',
  pointwise: 'pointwiseWide',
  pool: 'maxPool3',
  globalPool: 'globalPool49',
  scaleRelu: 'fusedRelu',
  addRelu: 'addRelu512',
  concat: 'concatChannels',
  dense: 'dense512x8',
  softmax: 'softmax100',
  matrixProduct: 'gemmTiled',
  attentionProduct: 'gemmBatched',
  attentionSoftmax: 'softmaxRows',
  layerNorm: 'layerNorm',
  addBiasGelu: 'addBiasGelu',
  embedding: 'embeddingGather',
};

/**
 * Verdicts of kernels that compilers of networks would make for the operations, each on a launch whose buffers are allocations of
 * their own, as compilers place them that plan memory ahead.
 */
export function operationVerdicts(seed: number): ReadonlyMap<OperationKind, OperationVerdict> {
  const bench = new OracleBench();
  const bodies = corpusBodies();
  return new Map(
    (Object.keys(KERNELS) as OperationKind[]).map((kind) => {
      const kernel = KERNELS[kind];
      const body = bodies.find(({ manifest }) => manifest.entry === kernel);
      if (body === undefined) throw new Error(`the corpus has no kernel '${kernel}'`);
      const module = bodyModule(body);
      const validator = compileValidator(analyzeKernel(module, kernel));
      const verdict = bench.with(drawInstance(body.manifest, module, seed, 'distinct'), ({ launch }) => {
        const { params, shape } = launch;
        const { symbols, space } = launch.module;
        const asked = { params, shape, symbols, allocations: new AllocationMap(space.segments()) };
        const idempotent = validator.judge(asked);
        return { idempotent, ...(idempotent ? {} : { cause: validator.cause(asked) }) };
      });
      return [
        kind,
        { kernel: body.id, ...verdict, isOfKernel: validator.summary.class !== 'conditional' },
      ] as const;
    }),
  );
}
