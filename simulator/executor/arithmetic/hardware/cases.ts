import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { ScalarType } from '../../../ptx/index.js';
import { typeBits } from '../../../ptx/index.js';

/** Instructions whose results on a real card are kept in `results.json`, and the operands they were given. */
const ints = ['u16', 's16', 'u32', 's32', 'u64', 's64'] as const;
const bits = ['b16', 'b32', 'b64'] as const;
const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
const comparisons = [
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'equ',
  'neu',
  'ltu',
  'leu',
  'gtu',
  'geu',
  'num',
  'nan',
];

function conversions(): string[] {
  const found: string[] = [];
  const all = ['u8', 's8', ...ints];
  for (const to of all) for (const from of all) if (to !== from) found.push(`cvt.${to}.${from}`);
  for (const [to, from] of [
    ['u8', 's32'],
    ['s8', 's32'],
    ['u16', 's64'],
    ['s32', 'u64'],
    ['u32', 's32'],
    ['s64', 'u64'],
  ]) {
    found.push(`cvt.sat.${to}.${from}`);
  }
  for (const to of all) for (const from of ['f32', 'f64']) found.push(`cvt.rzi.${to}.${from}`);
  for (const to of ['s32', 'u64', 's16']) {
    for (const from of ['f32', 'f64', 'f16']) {
      for (const how of ['rni', 'rmi', 'rpi']) found.push(`cvt.${how}.${to}.${from}`);
    }
  }
  for (const from of all) for (const to of ['f32', 'f64']) found.push(`cvt.rn.${to}.${from}`);
  for (const how of roundings) found.push(`cvt.${how}.f32.s64`, `cvt.${how}.f32.u32`, `cvt.${how}.f64.u64`);
  for (const how of roundings) found.push(`cvt.${how}.f32.f64`, `cvt.${how}.ftz.f32.f64`);
  for (const how of ['rn', 'rz']) found.push(`cvt.${how}.f16.f32`, `cvt.${how}.bf16.f32`);
  found.push('cvt.rn.f16.f64', 'cvt.rn.f16.s32', 'cvt.f32.f16', 'cvt.f64.f16', 'cvt.f64.f32', 'cvt.f32.bf16');
  found.push(
    'cvt.rn.relu.f16.f32',
    'cvt.rn.sat.f16.f32',
    'cvt.ftz.f64.f32',
    'cvt.sat.f32.f32',
    'cvt.sat.f32.f16',
  );
  for (const how of ['rni', 'rzi', 'rmi', 'rpi']) found.push(`cvt.${how}.f32.f32`, `cvt.${how}.f64.f64`);
  found.push(
    'cvt.rzi.ftz.f32.f32',
    'cvt.rni.ftz.s32.f32',
    'cvt.rn.f16x2.f32',
    'cvt.rn.bf16x2.f32',
    'cvt.rz.f16x2.f32',
  );
  return found;
}

function integers(): string[] {
  const found: string[] = [];
  for (const type of ints) {
    for (const opcode of [
      'add',
      'sub',
      'mul.lo',
      'mul.hi',
      'div',
      'rem',
      'min',
      'max',
      'mad.lo',
      'mad.hi',
      'sad',
    ]) {
      found.push(`${opcode}.${type}`);
    }
    if (!type.endsWith('64')) found.push(`mul.wide.${type}`, `mad.wide.${type}`);
    if (type.startsWith('s')) found.push(`neg.${type}`, `abs.${type}`);
    found.push(`shr.${type}`);
  }
  found.push('add.sat.s32', 'sub.sat.s32', 'mad.hi.sat.s32');
  for (const type of ['u32', 's32']) {
    found.push(`mul24.lo.${type}`, `mul24.hi.${type}`, `mad24.lo.${type}`, `mad24.hi.${type}`);
    found.push(`bmsk.clamp.b32`, `szext.clamp.${type}`, `szext.wrap.${type}`);
  }
  for (const type of bits) {
    for (const opcode of ['and', 'or', 'xor', 'not', 'cnot', 'shl']) found.push(`${opcode}.${type}`);
  }
  for (const type of ['u32', 's32', 'u64', 's64'])
    found.push(`bfe.${type}`, `bfind.${type}`, `bfind.shiftamt.${type}`);
  for (const type of ['b32', 'b64'])
    for (const opcode of ['bfi', 'popc', 'clz', 'brev']) found.push(`${opcode}.${type}`);
  found.push('bmsk.wrap.b32', 'fns.b32', 'prmt.b32');
  for (const mode of ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16']) found.push(`prmt.b32.${mode}`);
  for (const side of ['l', 'r']) for (const how of ['clamp', 'wrap']) found.push(`shf.${side}.${how}.b32`);
  for (const a of ['u32', 's32']) {
    for (const b of ['u32', 's32']) found.push(`dp4a.${a}.${b}`, `dp2a.lo.${a}.${b}`, `dp2a.hi.${a}.${b}`);
  }
  for (const type of ints)
    for (const how of ['eq', 'ne', 'lt', 'le', 'gt', 'ge']) found.push(`setp.${how}.${type}`);
  found.push('set.lt.u32.s32', 'set.gt.f32.u64', 'slct.b32.s32', 'slct.u64.s32', 'selp.b32', 'selp.b64');
  return found;
}

function floats(): string[] {
  const found: string[] = [];
  for (const type of ['f32', 'f64']) {
    for (const how of roundings) {
      for (const opcode of ['add', 'sub', 'mul', 'div', 'fma', 'rcp', 'sqrt'])
        found.push(`${opcode}.${how}.${type}`);
    }
    for (const opcode of ['neg', 'abs', 'min', 'max', 'copysign']) found.push(`${opcode}.${type}`);
    for (const how of comparisons) found.push(`setp.${how}.${type}`);
    for (const what of ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal']) {
      found.push(`testp.${what}.${type}`);
    }
  }
  for (const opcode of ['add', 'sub', 'mul']) found.push(`${opcode}.rn.ftz.f32`, `${opcode}.rn.sat.f32`);
  found.push(
    'fma.rn.ftz.f32',
    'fma.rn.sat.f32',
    'fma.rz.ftz.f32',
    'div.rn.ftz.f32',
    'min.ftz.f32',
    'max.NaN.f32',
  );
  found.push(
    'min.NaN.f32',
    'neg.ftz.f32',
    'abs.ftz.f32',
    'setp.lt.ftz.f32',
    'setp.equ.ftz.f32',
    'slct.f32.f32',
  );
  found.push('slct.ftz.f32.f32', 'sqrt.rn.ftz.f32', 'rcp.rn.ftz.f32');
  return found;
}

/** Exact instructions, in the order of the results. */
export const exactInstructions: readonly string[] = [
  ...new Set([...integers(), ...floats(), ...conversions()]),
];

/** `.approx` instructions: results agree within a bound only. */
export const approximateInstructions: readonly string[] = [
  'rcp.approx.f32',
  'rcp.approx.ftz.f32',
  'sqrt.approx.f32',
  'sqrt.approx.ftz.f32',
  'rsqrt.approx.f32',
  'rsqrt.approx.ftz.f32',
  'sin.approx.f32',
  'cos.approx.f32',
  'lg2.approx.f32',
  'lg2.approx.ftz.f32',
  'ex2.approx.f32',
  'ex2.approx.ftz.f32',
  'tanh.approx.f32',
  'div.approx.f32',
  'div.approx.ftz.f32',
  'div.full.f32',
  'rsqrt.approx.f64',
  'rcp.approx.ftz.f64',
];

const floatEdges32 = [
  0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f000000,
  0x3fc00000, 0x40200000, 0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000,
  0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345, 0x7e800001, 0x33000000,
  0x387fe000, 0x477ff000, 0x42fe0000, 0x437f8000,
].map(BigInt);

const floatEdges64 = [
  0n,
  1n << 63n,
  1n,
  0x000fffffffffffffn,
  0x0010000000000000n,
  0x3ff0000000000000n,
  0xbff0000000000000n,
  0x3fe0000000000000n,
  0x4004000000000000n,
  0x41dfffffffc00000n,
  0xc1e0000000000000n,
  0x43e0000000000000n,
  0x47efffffe0000000n,
  0x47effffff0000000n,
  0x36a0000000000000n,
  0x3810000000000000n,
  0x7fefffffffffffffn,
  0x7ff0000000000000n,
  0xfff0000000000000n,
  0x7ff8000000000000n,
  0x7ff4000000000001n,
  0xfff8123456789abcn,
  0x3ff0000010000000n,
  0x4330000000000001n,
];

const halfEdges = [
  0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x3e00,
].map(BigInt);

function integerEdges(width: number): bigint[] {
  const top = 1n << BigInt(width - 1);
  const small = [0n, 1n, 2n, 3n, 7n, 31n, 32n, 33n, 63n, 64n, 127n, 128n, 255n];
  return [
    ...small,
    top - 1n,
    top,
    top + 1n,
    2n * top - 1n,
    2n * top - 2n,
    0x5555555555555555n,
    0x00ff00ff12345678n,
  ];
}

/** Seeded operand bits of one type: edges first met in every combination of two, then random ones of every magnitude. */
export class OperandSource {
  private readonly random = xoroshiro128plus(20_081);

  private word(): bigint {
    return BigInt(this.random.next() >>> 0);
  }

  private edges(type: ScalarType): readonly bigint[] {
    if (type === 'f32') return floatEdges32;
    if (type === 'f64') return floatEdges64;
    if (type === 'f16' || type === 'bf16') return halfEdges;
    return integerEdges(Math.max(typeBits(type), 2));
  }

  private draw(type: ScalarType): bigint {
    const width = BigInt(typeBits(type));
    const raw = (this.word() << 32n) | this.word();
    const choice = this.random.next() & 7;
    if (type === 'f32' && choice < 4) return (raw & 0x807fffffn) | ((120n + ((raw >> 40n) % 16n)) << 23n);
    if (type === 'f64' && choice < 4)
      return (raw & 0x800fffffffffffffn) | ((1015n + ((raw >> 1n) % 16n)) << 52n);
    // Integers of every magnitude: shift a random word by a random amount.
    const shifted = choice < 6 ? raw >> BigInt(this.random.next() & 63) : raw;
    return BigInt.asUintN(Number(width), choice === 5 ? ~shifted : shifted);
  }

  /** Operands of one case of an instruction: raw words, zero-extended to 64 bits. */
  take(opcode: string, types: readonly ScalarType[], index: number): bigint[] {
    return this.draws(types, index).map((operand, position) => defined(opcode, position, operand));
  }

  private draws(types: readonly ScalarType[], index: number): bigint[] {
    return types.map((type, position) => {
      const edges = this.edges(type);
      const width = typeBits(type);
      if (width === 1) return BigInt((this.random.next() >>> 3) & 1);
      const step = [1, edges.length + 1, 7][position] ?? 1;
      const useEdge = (this.random.next() & 3) !== 0;
      const edge =
        edges[(position === 0 ? index : Math.floor(index / step) + index * position) % edges.length] ?? 0n;
      return BigInt.asUintN(width, useEdge ? edge : this.draw(type));
    });
  }
}

/** PTX leaves fields open whose position or length passes 255, and the search of `fns` for far-off bits. */
function defined(opcode: string, position: number, operand: bigint): bigint {
  const isField = (opcode === 'bfe' && position >= 1) || (opcode === 'bfi' && position >= 2);
  if (isField) return operand & 0xffn;
  return opcode === 'fns' && position === 2 ? BigInt.asUintN(32, (operand & 0x3fn) - 32n) : operand;
}
