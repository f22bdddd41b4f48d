import type { KernelFixture } from '../../kernels/index.js';
import { imageRotation, mipmapDownsample, separableFilter, tableLookup, textureStencil } from './images.js';
import { surfaceEdges } from './surfaces.js';
import { layersAndFaces, volumeRays } from './volumes.js';

/** CUDA programs with textures and surfaces, with what plain TypeScript says of their results. */
export const texturePrograms: readonly KernelFixture[] = [
  imageRotation,
  textureStencil,
  separableFilter,
  volumeRays,
  mipmapDownsample,
  layersAndFaces,
  tableLookup,
  surfaceEdges,
];
