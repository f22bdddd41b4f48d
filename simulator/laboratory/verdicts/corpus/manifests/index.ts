import type { KernelManifest } from '../manifest.js';
import { ADVERSARIAL } from './adversarial.js';
import { ELEMENTWISE } from './elementwise.js';
import { GEMM } from './gemm.js';
import { NORMALISATION } from './normalisation.js';
import { PARBOIL } from './parboil.js';
import { RODINIA } from './rodinia.js';
import { TRANSFORMER } from './transformer.js';
import { TVM } from './tvm.js';

/** Every kernel of the corpus. */
export const KERNELS: readonly KernelManifest[] = [
  ...ELEMENTWISE,
  ...NORMALISATION,
  ...GEMM,
  ...TVM,
  ...TRANSFORMER,
  ...RODINIA,
  ...PARBOIL,
  // No suite of programs has as many of these as it has others: a third of the launches.
  ...ADVERSARIAL.map((kernel) => ({ ...kernel, weight: 1 / 3 })),
];
