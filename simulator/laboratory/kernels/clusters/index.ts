import type { KernelFixture } from '../kernelFixture.js';
import { clusterHistogram } from './clusterHistogram.js';
import { clusterMailbox } from './clusterMailbox.js';
import { clusterPipeline } from './clusterPipeline.js';
import { clusterReduction } from './clusterReduction.js';
import { clusterStencil } from './clusterStencil.js';

/** Programs whose blocks meet in clusters. */
export const clusterFixtures: readonly KernelFixture[] = [
  clusterHistogram,
  clusterMailbox,
  clusterPipeline,
  clusterReduction,
  clusterStencil,
];
