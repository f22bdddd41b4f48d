/**
 * Further instructions that random kernels draw from, written as in instructionTemplates: 16-bit floats alone and in
 * pairs, packed integers, video instructions, and the rarer integer forms. A register letter may carry a selector.
 */
function halfTemplates(): string[] {
  const found: string[] = [];
  for (const [type, x] of [
    ['f16', 'h'],
    ['f16x2', 'r'],
  ] as const) {
    for (const opcode of ['add', 'sub', 'mul']) {
      for (const how of ['.rn', '.rn.ftz', '.rn.sat', '.rn.ftz.sat']) {
        found.push(`${opcode}${how}.${type} ${x} ${x} ${x}`);
      }
    }
    for (const how of ['', '.ftz', '.sat', '.relu', '.ftz.relu']) {
      found.push(`fma.rn${how}.${type} ${x} ${x} ${x} ${x}`);
    }
    for (const how of ['', '.ftz', '.NaN', '.ftz.NaN', '.xorsign.abs']) {
      found.push(`min${how}.${type} ${x} ${x} ${x}`, `max${how}.${type} ${x} ${x} ${x}`);
    }
    found.push(`neg.${type} ${x} ${x}`, `abs.${type} ${x} ${x}`, `neg.ftz.${type} ${x} ${x}`);
  }
  for (const [type, x] of [
    ['bf16', 'h'],
    ['bf16x2', 'r'],
  ] as const) {
    for (const opcode of ['add', 'sub', 'mul']) found.push(`${opcode}.rn.${type} ${x} ${x} ${x}`);
    found.push(`fma.rn.${type} ${x} ${x} ${x} ${x}`, `fma.rn.relu.${type} ${x} ${x} ${x} ${x}`);
    for (const how of ['', '.NaN', '.xorsign.abs']) {
      found.push(`min${how}.${type} ${x} ${x} ${x}`, `max${how}.${type} ${x} ${x} ${x}`);
    }
    found.push(`neg.${type} ${x} ${x}`, `abs.${type} ${x} ${x}`);
  }
  for (const how of ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'ltu', 'geu', 'num', 'nan']) {
    found.push(`setp.${how}.f16 p h h`, `setp.${how}.bf16 p h h`);
    found.push(`setp.${how}.f16x2 p|p r r`, `setp.${how}.bf16x2 p|p r r`);
  }
  found.push('setp.lt.and.f16 p h h p', 'setp.ge.or.f16x2 p|p r r p', 'setp.lt.ftz.f16 p h h');
  found.push(
    'set.lt.f16.f16 h h h',
    'set.gtu.u32.f16 r h h',
    'set.le.f16x2.f16x2 r r r',
    'set.ne.u32.bf16 r h h',
  );
  return found;
}

function halfConversionTemplates(): string[] {
  const found = [
    'cvt.rn.bf16.f32 h f',
    'cvt.rz.bf16.f32 h f',
    'cvt.rn.relu.bf16.f32 h f',
    'cvt.rn.relu.f16.f32 h f',
    'cvt.f32.bf16 f h',
    'cvt.f64.f16 d h',
    'cvt.rn.f16.f64 h d',
    'cvt.rn.f16x2.f32 r f f',
    'cvt.rz.f16x2.f32 r f f',
    'cvt.rn.relu.f16x2.f32 r f f',
    'cvt.rn.bf16x2.f32 r f f',
    'cvt.rn.relu.bf16x2.f32 r f f',
    'cvt.rna.tf32.f32 r f',
    'cvt.rn.satfinite.e4m3x2.f32 h f f',
    'cvt.rn.satfinite.e5m2x2.f32 h f f',
    'cvt.rn.satfinite.relu.e4m3x2.f32 h f f',
    'cvt.rn.f16x2.e4m3x2 r h',
    'cvt.rn.f16x2.e5m2x2 r h',
    'cvt.rn.satfinite.e4m3x2.f16x2 h r',
    'cvt.rni.f16.f16 h h',
    'cvt.rzi.f16.f16 h h',
    'cvt.sat.f16.f16 h h',
    'cvt.rn.bf16.f16 h h',
    'cvt.rn.f16.bf16 h h',
  ];
  for (const sign of ['u', 's']) {
    for (const [width, x] of [
      [16, 'h'],
      [32, 'r'],
      [64, 'q'],
    ] as const) {
      found.push(`cvt.rzi.${sign}${width}.f16 ${x} h`, `cvt.rn.f16.${sign}${width} h ${x}`);
      found.push(`cvt.rni.${sign}${width}.bf16 ${x} h`, `cvt.rn.bf16.${sign}${width} h ${x}`);
    }
  }
  return found;
}

function packedIntegerTemplates(): string[] {
  const found: string[] = [];
  for (const sign of ['u', 's']) {
    found.push(`add.${sign}16x2 r r r`, `min.${sign}16x2 r r r`, `max.${sign}16x2 r r r`);
    found.push(`dp2a.hi.${sign}32.${sign}32 r r r r`, `mad24.lo.${sign}32 r r ri r`);
    for (const [width, x] of [
      [32, 'r'],
      [64, 'q'],
    ] as const) {
      found.push(`mad.hi.${sign}${width} ${x} ${x} ${x} ${x}`, `mad.lo.${sign}${width} ${x} ${x} ${x} ${x}`);
      found.push(`mul.hi.${sign}${width} ${x} ${x} ${x}i`);
    }
    found.push(`mad.wide.${sign}16 r h h r`, `szext.clamp.${sign}32 r r ri`);
  }
  found.push('min.relu.s32 r r r', 'max.relu.s32 r r ri', 'min.relu.s16x2 r r r', 'max.relu.s16x2 r r r');
  found.push('mad.hi.sat.s32 r r r r', 'mad24.hi.sat.s32 r r r r', 'bmsk.wrap.b32 r r r', 'fns.b32 r r 0 n');
  for (const mode of ['f4e', 'b4e', 'rc8', 'ecr', 'rc16']) found.push(`prmt.b32.${mode} r r r r`);
  for (const type of ['u16', 's64', 'b16', 'f64']) {
    const x = { u16: 'h', s64: 'q', b16: 'h', f64: 'd' }[type] ?? 'r';
    found.push(`slct.${type}.s32 ${x} ${x} ${x} r`, `slct.${type}.f32 ${x} ${x} ${x} f`);
  }
  found.push(
    'set.ge.s32.u64 r q q',
    'set.lt.f32.s16 f h h',
    'set.gtu.u32.f64 r d d',
    'set.eq.and.u32.s32 r r r p',
  );
  found.push('lop3.or.b32 r|p r r r n p', 'lop3.and.b32 r|p r r r n p');
  return found;
}

function videoTemplates(): string[] {
  const found: string[] = [];
  const selected = [
    ['r', 'r'],
    ['r.b0', 'r.h1'],
    ['r.b3', 'r.b2'],
    ['r.h0', 'r'],
  ] as const;
  for (const [d, a, b] of [
    ['s32', 's32', 's32'],
    ['u32', 'u32', 's32'],
    ['s32', 'u32', 'u32'],
  ] as const) {
    for (const opcode of ['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax']) {
      for (const [x, y] of selected) {
        found.push(`${opcode}.${d}.${a}.${b} r ${x} ${y}`, `${opcode}.${d}.${a}.${b}.sat r ${x} ${y}`);
      }
      found.push(`${opcode}.${d}.${a}.${b}.add r r.h0 r.b1 r`);
    }
  }
  for (const mode of ['clamp', 'wrap']) {
    found.push(`vshl.u32.u32.u32.${mode} r r r`, `vshr.s32.s32.u32.${mode} r r.h1 r.b0`);
  }
  found.push('vmad.s32.s32.s32 r r.h0 r.h1 r', 'vmad.u32.u32.u32.shr7 r r.b0 r.b1 r');
  found.push(
    'vset.s32.u32.lt r r.b0 r.b3',
    'vadd.s32.s32.s32.max r r.h1 r r',
    'vsub.s32.s32.s32.min r r r.b2 r',
    'vset.u32.u32.ge.add r r r r',
  );
  for (const type of ['u32.u32.u32', 's32.s32.s32']) {
    for (const opcode of ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax']) {
      found.push(`${opcode}2.${type} r r r r`, `${opcode}4.${type} r r r r`);
      found.push(`${opcode}4.${type}.add r r r r`, `${opcode}2.${type}.sat r r r r`);
    }
  }
  found.push('vset2.u32.u32.lt r r r r', 'vset4.u32.s32.ge.add r r r r');
  return found;
}

/** Float arithmetic with its rounding written, so that nothing may be contracted. */
function roundedTemplates(): string[] {
  const found: string[] = [];
  for (const [type, x] of [
    ['f32', 'f'],
    ['f64', 'd'],
  ] as const) {
    for (const how of ['rn', 'rz', 'rm', 'rp']) {
      for (const opcode of ['add', 'sub', 'mul']) found.push(`${opcode}.${how}.${type} ${x} ${x} ${x}i`);
      found.push(`fma.${how}.${type} ${x} ${x} ${x} ${x}`);
    }
    found.push(`min.${type} ${x} ${x} ${x}`, `max.${type} ${x} ${x} ${x}`, `copysign.${type} ${x} ${x} ${x}`);
  }
  found.push('min.NaN.f32 f f f', 'max.xorsign.abs.f32 f f f', 'min.ftz.NaN.xorsign.abs.f32 f f f');
  return found;
}

export const wideTemplates: readonly string[] = [
  ...halfTemplates(),
  ...halfConversionTemplates(),
  ...packedIntegerTemplates(),
  ...videoTemplates(),
  ...roundedTemplates(),
];

/** One definition for interpreter and compiler, another one in hardware. */
export const wideApproximateTemplates: readonly string[] = [
  'ex2.approx.f16 h h',
  'ex2.approx.f16x2 r r',
  'ex2.approx.ftz.bf16 h h',
  'ex2.approx.ftz.bf16x2 r r',
  'tanh.approx.f16 h h',
  'tanh.approx.f16x2 r r',
  'tanh.approx.bf16 h h',
  'tanh.approx.bf16x2 r r',
];
