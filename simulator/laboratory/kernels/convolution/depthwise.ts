import { kernelFixture } from '../kernelFixture.js';
import { fma32 } from '../numerics.js';
import { uniform } from '../seededInputs.js';

const [height, width, channels, mixed] = [9, 12, 10, 14];
const [outHeight, outWidth] = [5, 6];
const { fround } = Math;

export const depthwise = kernelFixture({
  ptx: new URL('./depthwise.ptx', import.meta.url),
  buffers: () => ({
    image: uniform(height * width * channels, 63, -3, 3),
    filters: uniform(9 * channels, 64),
    bias: uniform(channels, 65),
    deep: new Float32Array(outHeight * outWidth * channels),
    mix: uniform(channels * mixed, 66),
    out: new Float32Array(outHeight * outWidth * mixed),
  }),
  launches: [
    {
      kernel: 'depthwise',
      grid: [outWidth, outHeight],
      block: channels,
      args: [
        { buffer: 'image' },
        { buffer: 'filters' },
        { buffer: 'bias' },
        { buffer: 'deep' },
        { i32: height },
        { i32: width },
        { i32: channels },
      ],
    },
    {
      kernel: 'pointwise',
      grid: outWidth * outHeight,
      block: mixed,
      dynamicSharedBytes: 4 * channels,
      args: [{ buffer: 'deep' }, { buffer: 'mix' }, { buffer: 'out' }, { i32: channels }],
    },
  ],
  reference: ({ image, filters, bias, deep, mix, out }) => {
    deep.forEach((_, at) => {
      const c = at % channels;
      const [x, y] = [Math.floor(at / channels) % outWidth, Math.floor(at / channels / outWidth)];
      let sum = bias[c];
      for (let tap = 0; tap < 9; tap++) {
        const [px, py] = [2 * x + (tap % 3) - 1, 2 * y + Math.floor(tap / 3) - 1];
        if (px < 0 || py < 0 || px >= width || py >= height) continue;
        sum = fma32(image[(py * width + px) * channels + c], filters[tap * channels + c], sum);
      }
      deep[at] = Math.min(Math.max(sum, 0), 6);
    });
    out.forEach((_, at) => {
      const [pixel, o] = [Math.floor(at / mixed), at % mixed];
      for (let c = 0; c < channels; c++) {
        out[at] += fround(deep[pixel * channels + c] * mix[c * mixed + o]);
      }
    });
  },
  outputs: { deep: 'exact', out: 'exact' },
});
