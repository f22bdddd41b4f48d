/**
 * Register-to-register instructions that random kernels draw from: the instruction, its destination, its sources.
 * `h r q f d p` are registers of 16, 32 and 64 bits, f32, f64 and predicates; an `i` behind one allows an immediate; `n`
 * is an immediate from 0 to 70; `m` a 32-bit value below 256, for the positions of bit fields.
 */
const rounding = ['rn', 'rz', 'rm', 'rp'] as const;
const letters = { 16: 'h', 32: 'r', 64: 'q' } as const;
type Width = keyof typeof letters;

function integerTemplates(): string[] {
  const found: string[] = [];
  for (const width of [16, 32, 64] as const) {
    const x = letters[width];
    for (const sign of ['u', 's']) {
      for (const opcode of ['add', 'sub', 'mul.lo', 'mul.hi', 'min', 'max', 'div', 'rem']) {
        found.push(`${opcode}.${sign}${width} ${x} ${x} ${x}i`);
      }
      found.push(`mad.lo.${sign}${width} ${x} ${x} ${x}i ${x}`, `sad.${sign}${width} ${x} ${x} ${x} ${x}`);
      found.push(`shr.${sign}${width} ${x} ${x} ri`, `shr.${sign}${width} ${x} ${x} n`);
    }
    found.push(`shl.b${width} ${x} ${x} ri`, `shl.b${width} ${x} ${x} n`, `not.b${width} ${x} ${x}`);
    for (const opcode of ['and', 'or', 'xor']) found.push(`${opcode}.b${width} ${x} ${x} ${x}i`);
    found.push(`neg.s${width} ${x} ${x}`, `abs.s${width} ${x} ${x}`, `cnot.b${width} ${x} ${x}`);
    found.push(`selp.b${width} ${x} ${x} ${x}i p`, `mov.u${width} ${x} ${x}i`);
  }
  for (const sign of ['u', 's']) {
    found.push(`mul.wide.${sign}16 r h hi`, `mul.wide.${sign}32 q r ri`, `mad.wide.${sign}32 q r ri q`);
    found.push(`mul24.lo.${sign}32 r r r`, `mul24.hi.${sign}32 r r ri`, `mad24.lo.${sign}32 r r r r`);
    for (const x of ['r', 'q'] as const) {
      const width = x === 'r' ? 32 : 64;
      found.push(`bfe.${sign}${width} ${x} ${x} m n`, `bfind.${sign}${width} r ${x}`);
      found.push(`bfind.shiftamt.${sign}${width} r ${x}`);
    }
    for (const other of ['u', 's'])
      found.push(`dp4a.${sign}32.${other}32 r r r r`, `dp2a.lo.${sign}32.${other}32 r r r r`);
  }
  for (const x of ['r', 'q'] as const) {
    const width = x === 'r' ? 32 : 64;
    found.push(
      `popc.b${width} r ${x}`,
      `clz.b${width} r ${x}`,
      `brev.b${width} ${x} ${x}`,
      `bfi.b${width} ${x} ${x} ${x} m n`,
    );
  }
  found.push(
    'add.sat.s32 r r ri',
    'sub.sat.s32 r r r',
    'prmt.b32 r r r ri',
    'prmt.b32.ecl r r r r',
    'lop3.b32 r r r r n',
  );
  found.push(
    'shf.l.wrap.b32 r r r ri',
    'shf.r.wrap.b32 r r r n',
    'shf.l.clamp.b32 r r r r',
    'shf.r.clamp.b32 r r r n',
  );
  found.push(
    'bmsk.clamp.b32 r r ri',
    'szext.wrap.s32 r r ri',
    'slct.b32.s32 r r ri r',
    'set.lt.u32.s32 r r ri',
  );
  return found;
}

function floatTemplates(): string[] {
  const found: string[] = [];
  for (const x of ['f', 'd'] as const) {
    const type = x === 'f' ? 'f32' : 'f64';
    for (const how of rounding) {
      // The directed roundings are rare in kernels and slow to check: one form of each.
      for (const opcode of how === 'rn' ? ['add', 'sub', 'mul', 'div'] : ['add', 'mul']) {
        found.push(`${opcode}.${how}.${type} ${x} ${x} ${x}i`);
      }
      found.push(`fma.${how}.${type} ${x} ${x} ${x} ${x}`);
    }
    found.push(
      `add.${type} ${x} ${x} ${x}i`,
      `mul.${type} ${x} ${x} ${x}i`,
      `fma.rn.${type} ${x} ${x} ${x}i ${x}`,
    );
    found.push(
      `sqrt.rn.${type} ${x} ${x}`,
      `rcp.rn.${type} ${x} ${x}`,
      `neg.${type} ${x} ${x}`,
      `abs.${type} ${x} ${x}`,
    );
    found.push(
      `min.${type} ${x} ${x} ${x}i`,
      `max.${type} ${x} ${x} ${x}i`,
      `copysign.${type} ${x} ${x} ${x}`,
    );
    found.push(`mov.${type} ${x} ${x}i`, `selp.${type} ${x} ${x} ${x}i p`, `testp.finite.${type} p ${x}`);
    found.push(`testp.subnormal.${type} p ${x}`);
  }
  found.push('add.ftz.f32 f f f', 'fma.rn.ftz.f32 f f f f', 'mul.sat.f32 f f fi', 'fma.rn.sat.f32 f f f f');
  found.push('min.ftz.f32 f f f', 'max.NaN.f32 f f f', 'slct.f32.f32 f f f f');
  return found;
}

/** Approximate functions: one definition for interpreter and compiler, another one in hardware. */
export const approximateTemplates: readonly string[] = [
  'ex2.approx.f32 f f',
  'ex2.approx.ftz.f32 f f',
  'lg2.approx.f32 f f',
  'rcp.approx.f32 f f',
  'rcp.approx.ftz.f32 f f',
  'rsqrt.approx.f32 f f',
  'sqrt.approx.ftz.f32 f f',
  'sin.approx.f32 f f',
  'cos.approx.f32 f f',
  'tanh.approx.f32 f f',
  'div.approx.f32 f f f',
  'div.full.f32 f f fi',
];

function conversionTemplates(): string[] {
  const found: string[] = [];
  const widths: readonly Width[] = [16, 32, 64];
  for (const to of widths) {
    for (const from of widths) {
      for (const [s, t] of [
        ['u', 'u'],
        ['u', 's'],
        ['s', 'u'],
        ['s', 's'],
      ]) {
        if (to !== from || s !== t) found.push(`cvt.${s}${to}.${t}${from} ${letters[to]} ${letters[from]}`);
      }
    }
    for (const sign of ['u', 's']) {
      for (const [x, type] of [
        ['f', 'f32'],
        ['d', 'f64'],
      ]) {
        found.push(
          `cvt.rzi.${sign}${to}.${type} ${letters[to]} ${x}`,
          `cvt.rn.${type}.${sign}${to} ${x} ${letters[to]}`,
        );
      }
    }
  }
  found.push(
    'cvt.s8.s32 r r',
    'cvt.u8.u32 h r',
    'cvt.sat.u8.s32 r r',
    'cvt.sat.s16.s32 h r',
    'cvt.sat.u32.s64 r q',
  );
  found.push('cvt.rni.s32.f32 r f', 'cvt.rmi.s64.f64 q d', 'cvt.rpi.u32.f32 r f', 'cvt.rni.s32.f64 r d');
  found.push(
    'cvt.rn.f32.f64 f d',
    'cvt.rz.f32.f64 f d',
    'cvt.f64.f32 d f',
    'cvt.rn.f16.f32 h f',
    'cvt.f32.f16 f h',
  );
  found.push('cvt.rz.f16.f32 h f', 'cvt.rn.bf16.f32 h f', 'cvt.rni.f32.f32 f f', 'cvt.rzi.f64.f64 d d');
  found.push('cvt.rmi.f32.f32 f f', 'cvt.sat.f32.f32 f f', 'cvt.rp.f32.s64 f q', 'cvt.rz.f32.u32 f r');
  return found;
}

function predicateTemplates(): string[] {
  const found = ['and.pred p p p', 'or.pred p p p', 'xor.pred p p p', 'not.pred p p'];
  const orders = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];
  for (const how of orders) {
    for (const [x, type] of [
      ['h', 's16'],
      ['r', 's32'],
      ['r', 'u32'],
      ['q', 's64'],
      ['q', 'u64'],
      ['f', 'f32'],
      ['d', 'f64'],
    ] as const) {
      found.push(`setp.${how}.${type} p ${x} ${x}i`);
    }
    found.push(`setp.${how}u.f32 p f fi`, `setp.${how}u.f64 p d d`);
  }
  found.push(
    'setp.lt.and.s32 p|p r ri p',
    'setp.geu.or.f32 p|p f f p',
    'setp.ne.xor.u64 p q qi !p',
    'setp.num.f32 p f f',
  );
  return found;
}

export const exactTemplates: readonly string[] = [
  ...integerTemplates(),
  ...floatTemplates(),
  ...conversionTemplates(),
  ...predicateTemplates(),
];
