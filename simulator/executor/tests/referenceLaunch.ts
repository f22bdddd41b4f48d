import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseModule, type IrFunction } from '../../ptx/index.js';
import { loadModule } from '../module/index.js';
import type { DeviceAddressSpace } from '../memory/index.js';
import type { Dim3, ExecutorLaunch } from '../types.js';

/** The parts of a launch spec (simulator/gpu/reference/README.md) that the reference launches use. */
export interface ReferenceSpec {
  readonly ptx: string;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicSharedBytes?: number;
  readonly args: readonly Record<string, unknown>[];
  readonly expect?: { readonly sum?: number; readonly samples?: Readonly<Record<string, number>> };
}

interface BufferSpec {
  readonly type: string;
  readonly count: number;
  readonly out?: boolean;
  readonly fill?: { readonly seed: number; readonly scale: number; readonly shift: number };
  readonly generate?: Readonly<Record<string, number>> & { readonly rule: string };
}

export type Elements = Float32Array | Float64Array | Int32Array | Uint32Array;

export interface ReferenceLaunch {
  readonly launch: ExecutorLaunch;
  /** Current contents of the output buffers, in the order of the arguments. */
  readonly outputs: () => Elements[];
}

export function readSpec(path: string): ReferenceSpec {
  return JSON.parse(readFileSync(path, 'utf8')) as ReferenceSpec;
}

export function elementsOf(spec: ReferenceSpec): number {
  return Math.max(...spec.args.map((arg) => (arg['buffer'] as BufferSpec | undefined)?.count ?? 0));
}

/** Loads the spec's kernel into the space and fills its buffers. */
export function placeLaunch(spec: ReferenceSpec, path: string, space: DeviceAddressSpace): ReferenceLaunch {
  const text = readFileSync(join(dirname(path), spec.ptx), 'utf8');
  const module = loadModule(parseModule(text, spec.ptx), space);
  const kernel = module.ir.functions.find((fn) => fn.name === spec.kernel);
  if (kernel === undefined) throw new Error(`no kernel ${spec.kernel}`);
  const outputs: { address: number; spec: BufferSpec }[] = [];
  const values = spec.args.map((arg) => {
    const buffer = arg['buffer'] as BufferSpec | undefined;
    if (buffer === undefined) return Object.values(arg)[0] as number;
    const bytes = buffer.count * bytesOf(buffer.type);
    const address = space.map(bytes, 'readWrite').virtualAddress;
    fillBuffer(elements(space.view(address, bytes), buffer.type), buffer);
    if (buffer.out === true) outputs.push({ address, spec: buffer });
    return address;
  });
  return {
    launch: {
      module,
      kernel,
      shape: { grid: spec.grid, block: spec.block, dynamicSharedBytes: spec.dynamicSharedBytes ?? 0 },
      params: packParams(kernel, values),
    },
    outputs: () =>
      outputs.map(({ address, spec: buffer }) =>
        elements(space.view(address, buffer.count * bytesOf(buffer.type)), buffer.type),
      ),
  };
}

/** Argument bytes of a kernel: each value in its parameter's type. */
export function packParams(kernel: IrFunction, values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(bytes.buffer);
  kernel.parameters.forEach(({ type, offset, bytes: size }, index) => {
    const value = values[index] ?? 0;
    if (type === 'f32') view.setFloat32(offset, value, true);
    else if (type === 'f64') view.setFloat64(offset, value, true);
    else if (size === 8) view.setBigInt64(offset, BigInt(value), true);
    else if (size === 2) view.setInt16(offset, value, true);
    else view.setInt32(offset, value, true);
  });
  return bytes;
}

export function mixu(index: number, seed: number): number {
  let u = Math.imul(index + seed * 7919, 2654435761);
  u ^= u >>> 16;
  u = Math.imul(u, 0x85ebca6b);
  u ^= u >>> 13;
  return u >>> 0;
}

export function mixf(index: number, seed: number): number {
  return ((mixu(index, seed) & 0x7fffff) / 8388608) * 2 - 1;
}

function fillBuffer(target: Elements, spec: BufferSpec): void {
  if (spec.fill !== undefined) {
    const { seed, scale, shift } = spec.fill;
    const [roundedScale, roundedShift] = [Math.fround(scale), Math.fround(shift)];
    for (let index = 0; index < spec.count; index++) {
      target[index] = Math.fround(Math.fround(mixf(index, seed) * roundedScale) + roundedShift);
    }
  }
  const rule = spec.generate;
  if (rule === undefined) return;
  const element = generator(rule);
  for (let index = 0; index < spec.count; index++) target[index] = element(index);
}

function generator(
  rule: Readonly<Record<string, number>> & { readonly rule: string },
): (index: number) => number {
  const get = (name: string): number => rule[name] ?? 0;
  const all = 2 ** (get('depth') + 1) - 1;
  const inner = 2 ** get('depth') - 1;
  switch (rule.rule) {
    case 'mix.mod':
      return (index) => (mixu(index, get('seed')) % get('mod')) + get('plus');
    case 'forest.feature':
      return (index) => mixu(index, 5) % get('dim');
    case 'forest.left':
      return (index) =>
        index % all < inner
          ? index - (index % all) + 2 * (index % all) + 1
          : -(1 + (mixu(index, 7) % get('classes')));
    case 'forest.right':
      return (index) => (index % all < inner ? index - (index % all) + 2 * (index % all) + 2 : -1);
    case 'forest.root':
      return (index) => index * all;
    default:
      throw new Error(`unknown rule ${rule.rule}`);
  }
}

function bytesOf(type: string): number {
  return type.endsWith('64') ? 8 : 4;
}

function elements(bytes: Uint8Array, type: string): Elements {
  const { buffer, byteOffset, byteLength } = bytes;
  switch (type) {
    case 'f32':
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case 'f64':
      return new Float64Array(buffer, byteOffset, byteLength / 8);
    case 'i32':
      return new Int32Array(buffer, byteOffset, byteLength / 4);
    case 'u32':
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    default:
      throw new Error(`type ${type} is not used by the reference launches`);
  }
}
