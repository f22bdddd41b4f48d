import { describe, expect, it } from 'vitest';
import { NodeMemory } from '../memory/index.js';
import type { AddressSpace } from '../types.js';
import { fetchCode } from './fetchForm.js';
import {
  decodeObject,
  encodeObject,
  OBJECT_BYTES,
  textureObject,
  type Sampler,
  type TextureResource,
} from './textureObject.js';
import { TextureUnits } from './textureUnits.js';

const space: AddressSpace = new NodeMemory({ backingBytes: 64 * 2 ** 20 }).createSpace();

function memory(values: Uint8Array | Float32Array | Int16Array | Uint16Array): number {
  const { virtualAddress } = space.map(Math.max(values.byteLength, 512), 'readWrite');
  space.view(virtualAddress, values.byteLength).set(new Uint8Array(values.buffer));
  return virtualAddress;
}

function handleOf(resource: TextureResource, sampler?: Sampler): number {
  const { virtualAddress } = space.map(OBJECT_BYTES, 'read');
  space.view(virtualAddress, OBJECT_BYTES).set(encodeObject(textureObject(resource, sampler)));
  return virtualAddress;
}

/** Asks a unit for one instruction, such as `tex.1d.v4.f32.f32`. @param operands integers under `words`, floats otherwise */
function ask(
  text: string,
  handle: number,
  floats: readonly number[],
  words: readonly number[] = [],
): Int32Array {
  const [opcode = '', ...modifiers] = text.split('.');
  const types = modifiers.filter((each) => /^[fsu]32$/.test(each)) as ('f32' | 's32' | 'u32')[];
  const code = fetchCode({ index: 0, line: 1, opcode, modifiers, types, destinations: [], sources: [] });
  const operands = new Int32Array(12);
  new Float32Array(operands.buffer).set(floats);
  operands.set(words);
  const results = new Int32Array(4);
  const view = { words: operands, floats: new Float32Array(operands.buffer) };
  new TextureUnits(space).fetch(code, handle % 2 ** 32, Math.floor(handle / 2 ** 32), view, results);
  return results;
}

function floatsOf(results: Int32Array): number[] {
  return [...new Float32Array(results.slice().buffer)];
}

const ramp = { kind: 'array', type: 'f32', channels: 1, width: 4 } as const;

describe('a texture of one dimension', () => {
  const address = memory(Float32Array.of(1, 2, 4, 8));
  const at = (x: number, sampler: Sampler): number =>
    floatsOf(ask('tex.1d.v4.f32.f32', handleOf({ ...ramp, address }, sampler), [x]))[0] ?? NaN;

  it('gives the texel that a coordinate lies in', () => {
    expect([0, 0.99, 1, 3.5].map((x) => at(x, {}))).toEqual([1, 1, 2, 8]);
  });

  it('blends the texels on both sides by weights of 256ths', () => {
    expect([0.5, 1, 1.5, 2.25].map((x) => at(x, { filter: 'linear' }))).toEqual([1, 1.5, 2, 3.5]);
    // A 1024th is nearer to nothing than to a 256th, three 1024ths to one.
    expect(at(0.5 + 1 / 1024, { filter: 'linear' })).toBe(1);
    expect(at(0.5 + 3 / 1024, { filter: 'linear' })).toBe(1 + 1 / 256);
  });

  it.each([
    ['clamp', [1, 8, 1, 8]],
    ['border', [9, 9, 1, 8]],
  ] as const)('outside, in texels: %s', (address, expected) => {
    expect([-1, 4, 0, 3].map((x) => at(x, { address, border: [9] }))).toEqual(expected);
  });

  it.each([
    ['wrap', [8, 1, 2, 8]],
    ['mirror', [1, 8, 4, 1]],
    ['clamp', [1, 8, 8, 1]],
    ['border', [9, 9, 9, 9]],
  ] as const)('outside, normalised: %s', (address, expected) => {
    const sampler = { address, border: [9], normalizedCoordinates: true } as const;
    expect([-0.125, 1.125, 1.375, -1000.125].map((x) => at(x, sampler))).toEqual(expected);
  });

  it('takes a NaN for the first texel, and infinities for the ends', () => {
    expect([NaN, Infinity, -Infinity].map((x) => at(x, {}))).toEqual([1, 8, 1]);
  });

  it('has nought where it has no channels', () => {
    expect(floatsOf(ask('tex.1d.v4.f32.f32', handleOf({ ...ramp, address }, {}), [0]))).toEqual([1, 0, 0, 0]);
  });
});

describe('formats', () => {
  it.each([
    ['u8', Uint8Array.of(0, 51, 255), [0, 0.2, 1]],
    ['s16', Int16Array.of(-32768, -32767, 32767), [-1, -1, 1]],
    ['f16', Uint16Array.of(0x3c00, 0xc000, 1), [1, -2, 2 ** -24]],
  ] as const)('%s as floats', (type, values, expected) => {
    const resource = { ...ramp, type, width: 3, address: memory(values) } as const;
    const handle = handleOf(resource, type === 'f16' ? {} : { normalizedFloat: true });
    expect([0, 1, 2].map((x) => floatsOf(ask('tex.1d.v4.f32.f32', handle, [x]))[0])).toEqual(
      expected.map(Math.fround),
    );
  });

  it('integers as they are', () => {
    const resource = { ...ramp, type: 's16', width: 2, address: memory(Int16Array.of(-5, 7)) } as const;
    expect(ask('tex.1d.v4.s32.f32', handleOf(resource, {}), [0])[0]).toBe(-5);
  });
});

describe('gathers', () => {
  it('begin below left and go round counterclockwise', () => {
    const address = memory(Float32Array.of(1, 2, 3, 4));
    const handle = handleOf({ ...ramp, width: 2, height: 2, address }, {});
    expect(floatsOf(ask('tld4.r.2d.v4.f32.f32', handle, [1, 1]))).toEqual([3, 4, 2, 1]);
  });
});

describe('places of surfaces', () => {
  const address = memory(new Float32Array(12));
  const handle = handleOf({ ...ramp, height: 3, address });
  const placeOf = (mode: string, x: number, y: number): [number, number] => {
    const [low = 0, high = 0, inside = 0] = ask(`surfplace.2d.${mode}.size4`, handle, [], [x, y]);
    return [high * 2 ** 32 + (low >>> 0), inside];
  };

  it('lie in rows', () => {
    expect(placeOf('trap', 8, 2)).toEqual([address + 40, 1]);
  });

  it('outside are the nearest, none, or a fault', () => {
    expect(placeOf('clamp', 24, -3)).toEqual([address + 12, 1]);
    expect(placeOf('zero', 16, 0)[1]).toBe(0);
    const zeros = placeOf('zero', 16, 0)[0];
    expect([...space.view(zeros, 16)]).toEqual(new Array<number>(16).fill(0));
    expect(() => placeOf('trap', 16, 0)).toThrow('is outside of a surface');
  });

  it.each(['trap', 'clamp', 'zero'])('between elements are a fault, outside too: %s', (mode) => {
    for (const x of [13, 18, -1])
      expect(() => placeOf(mode, x, 0)).toThrow(
        `x = ${x} of a surface on an array of 4 x 3 texels counts bytes`,
      );
  });
});

describe('records of objects', () => {
  it('are read as they were written', () => {
    const resource = {
      kind: 'pitched',
      address: 2 ** 46 + 512,
      type: 'u16',
      channels: 2,
      width: 9,
      height: 7,
    } as const;
    const object = textureObject(
      { ...resource, pitchBytes: 64 },
      {
        address: ['mirror', 'border'],
        filter: 'linear',
        normalizedFloat: true,
        levelBias: 0.5,
        border: [1, 2],
      },
    );
    expect(decodeObject(encodeObject(object))).toEqual(object);
  });

  it('are nothing in memory that kernels write', () => {
    const { virtualAddress } = space.map(OBJECT_BYTES, 'readWrite');
    space
      .view(virtualAddress, OBJECT_BYTES)
      .set(encodeObject(textureObject({ ...ramp, address: 2 ** 46 }, {})));
    expect(() => ask('tex.1d.v4.f32.f32', virtualAddress, [0])).toThrow('is of no texture');
  });
});
