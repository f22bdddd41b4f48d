import { readFileSync } from 'node:fs';
import {
  analyzeKernel,
  type KernelSummary,
  type ValidatedLaunch,
} from '../../../simulator/idempotency/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';

/** Outputs, threads of a block and buffers of each kernel of `layers.cu`. */
const LAYERS: Readonly<Record<string, readonly [outputs: number, block: number, buffers: number]>> = {
  conv3x3Relu: [25_088, 256, 4],
  conv1x1: [12_544, 256, 3],
  depthwise3x3: [50_176, 256, 3],
  maxPool3x3: [50_176, 256, 2],
  averagePool7x7: [512, 256, 2],
  dense: [16_384, 256, 4],
  batchNormRelu: [200_704, 256, 4],
  addRelu: [200_704, 256, 3],
  pad1: [28_800, 128, 2],
  channelsLast: [200_704, 256, 2],
  softmaxRow: [128, 128, 2],
  conv5x5: [50_176, 256, 3],
};

/** Layers of a model at the extents that it has, where those of the corpus are small enough to be run for the truth. */
export function layerLaunches(): { readonly summary: KernelSummary; readonly launch: ValidatedLaunch }[] {
  const module = parseModule(readFileSync('loadtest/bench/idempotency/layers.ptx', 'utf8'), 'layers.ptx');
  return Object.entries(LAYERS).map(([name, [outputs, block, buffers]]) => {
    const params = new Uint8Array(32);
    const view = new DataView(params.buffer);
    for (let buffer = 0; buffer < buffers; buffer++)
      view.setBigUint64(8 * buffer, BigInt(2 ** 45 + buffer * 2 ** 24), true);
    const shape = { grid: [outputs / block, 1, 1], block: [block, 1, 1] } as const;
    return { summary: analyzeKernel(module, name), launch: { params, shape } };
  });
}
