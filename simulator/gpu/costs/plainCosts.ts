import type { LaunchShape } from '../../executor/index.js';
import type { BlockWork } from '../timing/index.js';
import {
  COSTS_FORMAT,
  COSTS_VERSION,
  writtenWork,
  type CostDocument,
  type CostVariant,
} from './costDocument.js';

/** A kernel that is launched in one shape, and whose blocks all do the same. */
export interface PlainKernel {
  /** SHA-256 of the module's file name and text. */
  readonly module: string;
  readonly file: string;
  readonly kernel: string;
  readonly shape: LaunchShape;
  /** Of a block. */
  readonly work: BlockWork;
  readonly verdict: NonNullable<CostVariant['verdict']>;
  /** Of a block whose registers and shared memory nobody knows. */
  readonly contextBytes?: number | undefined;
}

/** Costs that nobody recorded, of kernels without arguments. @param device name of the card that they are of */
export function plainCosts(device: string, kernels: readonly PlainKernel[]): CostDocument {
  return {
    format: COSTS_FORMAT,
    version: COSTS_VERSION,
    device,
    kernels: kernels.map(({ module, file, kernel, shape, work, verdict, contextBytes }) => {
      const [x, y, z] = shape.grid;
      return {
        module,
        file,
        kernel,
        block: [...shape.block],
        dynamicSharedBytes: shape.dynamicSharedBytes,
        registers: 0,
        sharedBytes: shape.dynamicSharedBytes,
        variants: [
          {
            grid: [x, y, z],
            scalars: '',
            blocks: [[x * y * z, 0, 0]],
            work: writtenWork(work),
            verdict,
            contextBytes,
          },
        ],
      };
    }),
  };
}
