import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError, runLaunchSpec } from './index.js';

const PROGRAMS = resolve(import.meta.dirname, '../laboratory/textures/programs');
const [width, height] = [37, 23];
const texels = Array.from({ length: width * height }, (_, i) => (i * 7) % 50);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-textures-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const memory = { buffer: { name: 'image', type: 'f32', count: width * height, values: texels } };
const resource = { type: 'f32', width, height };
const out = { buffer: { name: 'out', type: 'f32', count: width * height, out: true } };
const size = [{ i32: width }, { i32: height }];

function stencil(texture: object): object {
  return {
    ptx: 'textureStencil.ptx',
    kernel: 'textureStencil',
    device: 'h200',
    grid: [2, 3, 1],
    block: [32, 8, 1],
    args: [{ texture }, out, ...size, { f32: 0 }],
  };
}

function floats(file: string): number[] {
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, file));
  return [...new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))];
}

function complaint(spec: object): string {
  try {
    runLaunchSpec(spec, PROGRAMS);
  } catch (error) {
    if (error instanceof LaunchSpecError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

describe('textures of a spec', () => {
  it('are read by the kernel, and take time', () => {
    const result = runLaunchSpec(stencil({ ...memory, resource }), PROGRAMS, { dumpDirectory: folder });
    // Without a rate the middle of each five points is left.
    expect(floats('out.bin')).toEqual(texels);
    expect(result.durationUs).toBeGreaterThan(1);
  });

  it('lie where another argument says', () => {
    const spec = {
      ...stencil({}),
      ptx: 'separableFilter.ptx',
      kernel: 'filterRows',
      args: [
        {
          texture: {
            buffer: { type: 'u8', count: 4 * width * height, fill: { seed: 1, scale: 0, shift: 255 } },
            resource: { type: 'u8', channels: 4, width, height },
            sampler: { normalizedFloat: true },
          },
        },
        {
          surface: {
            buffer: { name: 'rows', type: 'f32', count: 4 * width * height, out: true },
            resource: { type: 'f32', channels: 4, width, height },
          },
        },
        { buffer: { type: 'f32', count: 9, fill: { seed: 1, scale: 0, shift: 0.5 } } },
        ...size,
      ],
    };
    runLaunchSpec(spec, PROGRAMS, { dumpDirectory: folder });
    expect(new Set(floats('rows.bin'))).toEqual(new Set([4.5]));
  });

  it.each([
    [{ resource }, /^invalidSpec args\[0\]\.texture\.buffer: give its memory/],
    [{ of: 'image', resource }, /args\[0\]\.texture\.of: no buffer has the name 'image'/],
    [
      { ...memory, resource: { ...resource, width: 38 } },
      /texture\.resource: takes 3496 bytes, but args\[0\]\.texture\.buffer has 3404/,
    ],
    [{ ...memory, resource: { ...resource, type: 'f64' } }, /texture\.resource\.type: expected one of u8, /],
    [
      { ...memory, resource: { ...resource, channels: 3 } },
      /texture\.resource\.channels: expected one of 1, 2, 4/,
    ],
    [
      { ...memory, resource: { ...resource, pitchBytes: 64 } },
      /texture\.resource\.pitchBytes: pitched memory alone/,
    ],
    [{ ...memory, resource: { ...resource, levels: 9 } }, /texture\.resource\.levels: from 1 to 6/],
    [
      { ...memory, resource, sampler: { filter: 'cubic' } },
      /texture\.sampler\.filter: expected one of point, linear/,
    ],
    [
      { ...memory, resource, sampler: { normalizedFloat: true } },
      /sampler\.normalizedFloat: for integers of 8 and 16/,
    ],
    [
      { ...memory, resource: { type: 'f32', width, height, levels: 2 } },
      /sampler\.normalizedCoordinates: mipmaps/,
    ],
    [
      { ...memory, resource: { type: 's32', width, height }, sampler: { filter: 'linear' } },
      /sampler\.filter: linear/,
    ],
    [
      { ...memory, resource, sampler: { address: 'repeat' } },
      /sampler\.address\[0\]: expected one of wrap, clamp/,
    ],
    [{ ...memory, resource, lod: 1 }, /there is no field 'lod'/],
  ])('refuses what does not fit, %#', (texture, message) => {
    expect(complaint(stencil(texture))).toMatch(message);
  });

  it('tells an object of another shape with the place', () => {
    expect(complaint(stencil({ ...memory, resource: { type: 'f32', width } }))).toMatch(
      /^fault .*textureStencil\.ptx:\d+, block \(0, 0, 0\), thread \(0, 0, 0\): tex\.2d.*of a texture on an array of 37 texels/,
    );
  });

  it('tells a surface where a texture is expected', () => {
    const spec = { ...stencil({}), args: [{ surface: { ...memory, resource } }, out, ...size, { f32: 0 }] };
    expect(complaint(spec)).toMatch(/is of a surface: a texture's is expected/);
  });

  it('tells a handle of no object', () => {
    const spec = { ...stencil({}), args: [{ u64: 4096 }, out, ...size, { f32: 0 }] };
    expect(complaint(spec)).toMatch(/handle 0x1000 is of no texture and no surface that is there/);
  });

  it('ends where .trap meets the edge', () => {
    const surface = {
      surface: {
        buffer: { type: 'u8', count: 4 * width * height },
        resource: { type: 'u8', channels: 4, width, height },
      },
    };
    const spec = {
      ...stencil({}),
      ptx: 'surfaceEdges.ptx',
      kernel: 'flipRows',
      args: [surface, surface, { i32: width + 1 }, { i32: height }],
    };
    expect(complaint(spec)).toMatch(
      /\(148, 0\) with 4 bytes is outside of a surface on an array of 37 x 23 texels/,
    );
  });
});
