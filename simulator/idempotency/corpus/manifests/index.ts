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
  ...ADVERSARIAL,
];
