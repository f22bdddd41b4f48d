import { setFlagsFromString } from 'node:v8';
import { fusedMultiplyAdd32, fusedMultiplyAdd64 } from '../../arithmetic/index.js';
import { FunctionBuilder, ModuleBuilder } from '../../../wasm/index.js';

/**
 * WebAssembly's relaxed multiply-add rounds once or twice, as the machine likes. Where it rounds once it is PTX's `fma`,
 * several times faster than what else gives the same bits. This V8 has it behind a flag, which is the whole process's and
 * must be set before a module that uses it is compiled.
 */

const FLAG = '--experimental-wasm-relaxed-simd';
const TINY = 2 ** -149;
const LEAST = 2 ** -126;

type Case = readonly [a: number, b: number, c: number];

/** Fused and unfused results differ, or a machine that flushes subnormals would show. */
const singles: readonly Case[] = [
  [1 + 2 ** -12, 1 + 2 ** -12, -(1 + 2 ** -11)],
  [1 + 2 ** -23, 1 - 2 ** -23, -1],
  [1 + 2 ** -12, 1 + 2 ** -12, 2 ** -60],
  [1 + 2 ** -12, 1 + 2 ** -12, -(2 ** -60)],
  [3, 2 ** 24 + 2, 2 ** -40],
  [TINY, 0.5, TINY],
  [-TINY, 0.5, TINY],
  [LEAST, 1 - 2 ** -24, -LEAST],
  [LEAST, 0.75, TINY],
  [2 ** -100, 2 ** -50, 0],
  [2 ** 100, 2 ** 100, -(2 ** 127)],
  [2 ** 64, 2 ** 64, -(2 ** 127)],
  [-TINY, TINY, 0],
  [5, 0, -0],
];

const doubles: readonly Case[] = [
  [1 + 2 ** -27, 1 + 2 ** -27, -(1 + 2 ** -26)],
  [1 + 2 ** -52, 1 - 2 ** -52, -1],
  [1 + 2 ** -27, 1 + 2 ** -27, 2 ** -150],
  [1 + 2 ** -27, 1 + 2 ** -27, -(2 ** -150)],
  [2 ** -1074, 0.5, 2 ** -1074],
  [2 ** -1022, 1 - 2 ** -53, -(2 ** -1022)],
  [2 ** 600, 2 ** 600, -(2 ** 1023)],
  [2 ** 512, 2 ** 512, -(2 ** 1023)],
  [-(2 ** -1074), 2 ** -1074, 0],
];

let found: boolean | undefined;

/** Whether relaxed multiply-adds of this process round once, in every lane and of subnormals too. Looked into once. */
export function hasFusedMultiplyAdd(): boolean {
  found ??= fuses();
  return found;
}

function fuses(): boolean {
  try {
    setFlagsFromString(FLAG);
    const exports = tryModule();
    return (
      singles.every(([a, b, c]) => Object.is(exports.single(a, b, c), fusedMultiplyAdd32(a, b, c))) &&
      doubles.every(([a, b, c]) => Object.is(exports.double(a, b, c), fusedMultiplyAdd64(a, b, c)))
    );
  } catch {
    // A V8 that does not know the instructions refuses the module.
    return false;
  }
}

interface Tried {
  readonly single: (a: number, b: number, c: number) => number;
  readonly double: (a: number, b: number, c: number) => number;
}

function tryModule(): Tried {
  const module = new ModuleBuilder(1);
  module.add(allLanes('f32'), 'single');
  module.add(allLanes('f64'), 'double');
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { node: { memory } });
  return instance.exports as unknown as Tried;
}

/** a · b + c, or NaN when the lanes do not agree. */
function allLanes(type: 'f32' | 'f64'): FunctionBuilder {
  const f = new FunctionBuilder([type, type, type], [type]);
  const [lanes, first] = [f.local('v128'), f.local(type)];
  const shape = type === 'f32' ? 'f32x4' : 'f64x2';
  for (const operand of [0, 1, 2]) f.get(operand).simd(`${shape}Splat`);
  f.simd(`${shape}RelaxedMadd`).tee(lanes).simdLane(`${shape}ExtractLane`, 0).set(first);
  if (type === 'f32') f.get(first).f32(NaN);
  else f.get(first).f64(NaN);
  f.get(lanes).get(first).simd(`${shape}Splat`).simd('i32x4Eq').simd('i32x4AllTrue').op('select');
  return f;
}
