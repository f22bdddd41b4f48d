import { form, type VectorForm } from './vectorForm.js';

const ints = ['u16', 's16', 'u32', 's32', 'u64', 's64'] as const;
const wider: Readonly<Record<string, string>> = { u16: 'u32', s16: 's32', u32: 'u64', s32: 's64' };

function plain(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const type of ints) {
    for (const opcode of ['add', 'sub', 'mul.lo', 'mul.hi', 'div', 'rem', 'min', 'max'])
      found.push(form(`${opcode}.${type}`, `${type} <- ${type} ${type}`));
    for (const opcode of ['mad.lo', 'mad.hi', 'sad'])
      found.push(form(`${opcode}.${type}`, `${type} <- ${type} ${type} ${type}`));
    const wide = wider[type];
    if (wide !== undefined) {
      found.push(form(`mul.wide.${type}`, `${wide} <- ${type} ${type}`));
      found.push(form(`mad.wide.${type}`, `${wide} <- ${type} ${type} ${wide}`));
    }
    if (type.startsWith('s')) {
      found.push(form(`neg.${type}`, `${type} <- ${type}`), form(`abs.${type}`, `${type} <- ${type}`));
    }
    found.push(form(`shr.${type}`, `${type} <- ${type} count`));
    for (const how of ['eq', 'ne', 'lt', 'le', 'gt', 'ge'])
      found.push(form(`setp.${how}.${type}`, `pred <- ${type} ${type}`));
    if (type.startsWith('u')) {
      for (const how of ['lo', 'ls', 'hi', 'hs'])
        found.push(form(`setp.${how}.${type}`, `pred <- ${type} ${type}`));
    }
  }
  for (const opcode of ['add.sat', 'sub.sat']) found.push(form(`${opcode}.s32`, 's32 <- s32 s32'));
  found.push(form('mad.hi.sat.s32', 's32 <- s32 s32 s32'), form('mad24.hi.sat.s32', 's32 <- s32 s32 s32'));
  for (const type of ['u32', 's32']) {
    for (const half of ['lo', 'hi']) {
      found.push(form(`mul24.${half}.${type}`, `${type} <- ${type} ${type}`));
      found.push(form(`mad24.${half}.${type}`, `${type} <- ${type} ${type} ${type}`));
    }
  }
  for (const what of ['add', 'min', 'max']) {
    for (const type of ['u16x2', 's16x2']) found.push(form(`${what}.${type}`, `${type} <- ${type} ${type}`));
  }
  for (const what of ['min', 'max']) {
    found.push(form(`${what}.relu.s16x2`, 's16x2 <- s16x2 s16x2'));
    found.push(form(`${what}.relu.s32`, 's32 <- s32 s32'));
  }
  return found;
}

function bitForms(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const type of ['b16', 'b32', 'b64']) {
    for (const opcode of ['and', 'or', 'xor'])
      found.push(form(`${opcode}.${type}`, `${type} <- ${type} ${type}`));
    for (const opcode of ['not', 'cnot']) found.push(form(`${opcode}.${type}`, `${type} <- ${type}`));
    found.push(
      form(`shl.${type}`, `${type} <- ${type} count`),
      form(`shr.${type}`, `${type} <- ${type} count`),
    );
    for (const how of ['eq', 'ne']) found.push(form(`setp.${how}.${type}`, `pred <- ${type} ${type}`));
  }
  for (const opcode of ['and', 'or', 'xor']) found.push(form(`${opcode}.pred`, 'pred <- pred pred'));
  found.push(form('not.pred', 'pred <- pred'));
  for (const type of ['u32', 's32', 'u64', 's64']) {
    found.push(form(`bfe.${type}`, `${type} <- ${type} field field`));
    found.push(form(`bfind.${type}`, `u32 <- ${type}`), form(`bfind.shiftamt.${type}`, `u32 <- ${type}`));
  }
  for (const type of ['b32', 'b64']) {
    found.push(
      form(`bfi.${type}`, `${type} <- ${type} ${type} field field`),
      form(`brev.${type}`, `${type} <- ${type}`),
    );
    for (const opcode of ['popc', 'clz']) found.push(form(`${opcode}.${type}`, `u32 <- ${type}`));
  }
  for (const how of ['clamp', 'wrap']) {
    found.push(form(`bmsk.${how}.b32`, 'b32 <- count count'));
    for (const type of ['u32', 's32']) found.push(form(`szext.${how}.${type}`, `${type} <- ${type} count`));
    for (const side of ['l', 'r']) found.push(form(`shf.${side}.${how}.b32`, 'b32 <- b32 b32 count'));
  }
  found.push(form('fns.b32', 'b32 <- b32 fnsbase nth'), form('prmt.b32', 'b32 <- b32 b32 b32'));
  for (const mode of ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'])
    found.push(form(`prmt.b32.${mode}`, 'b32 <- b32 b32 b32'));
  for (const table of [0x00, 0x1b, 0x80, 0x96, 0xca, 0xe8, 0xfe, 0xff])
    found.push(form(`lop3.b32 ${table}`, 'b32 <- b32 b32 b32', `lop3.b32 %d0, %s0, %s1, %s2, ${table};`));
  for (const how of ['and', 'or']) {
    const operands = '%s0, %s1, %s2, 0x96, %s3;';
    found.push(
      form(`lop3.${how}.b32`, 'b32 pred <- b32 b32 b32 pred', `lop3.${how}.b32 %d0|%d1, ${operands}`),
    );
  }
  for (const a of ['u32', 's32']) {
    for (const b of ['u32', 's32']) {
      found.push(form(`dp4a.${a}.${b}`, 'b32 <- b32 b32 b32'));
      for (const half of ['lo', 'hi']) found.push(form(`dp2a.${half}.${a}.${b}`, 'b32 <- b32 b32 b32'));
    }
  }
  for (const type of ['b16', 'b32', 'b64', ...ints, 'f32', 'f64']) {
    const bits = `b${type.slice(1)}`;
    found.push(form(`selp.${type}`, `${bits} <- ${bits} ${bits} pred`));
    found.push(form(`slct.${type}.s32`, `${bits} <- ${bits} ${bits} s32`));
    found.push(form(`slct.${type}.f32`, `${bits} <- ${bits} ${bits} f32`));
  }
  found.push(form('slct.ftz.f32.f32', 'b32 <- b32 b32 f32'), form('slct.ftz.b64.f32', 'b64 <- b64 b64 f32'));
  return found;
}

/** Comparisons joined with a predicate, and both results of `setp`. */
function joined(): VectorForm[] {
  const found: VectorForm[] = [];
  const cases = [
    ['lt', 's32'],
    ['ge', 'u64'],
    ['ltu', 'f32'],
    ['ne', 'f64'],
    ['gt', 's16'],
  ] as const;
  for (const [how, type] of cases) {
    for (const join of ['and', 'or', 'xor']) {
      found.push(
        form(
          `setp.${how}.${join}.${type}`,
          `pred pred <- ${type} ${type} pred`,
          `setp.${how}.${join}.${type} %d0|%d1, %s0, %s1, %s2;`,
        ),
        form(
          `setp.${how}.${join}.${type} !c`,
          `pred <- ${type} ${type} pred`,
          `setp.${how}.${join}.${type} %d0, %s0, %s1, !%s2;`,
        ),
        form(`set.${how}.${join}.u32.${type}`, `u32 <- ${type} ${type} pred`),
      );
    }
    found.push(
      form(
        `setp.${how}.${type} p|q`,
        `pred pred <- ${type} ${type}`,
        `setp.${how}.${type} %d0|%d1, %s0, %s1;`,
      ),
    );
    for (const to of ['u32', 's32', 'f32'])
      found.push(form(`set.${how}.${to}.${type}`, `${to} <- ${type} ${type}`));
  }
  for (const how of ['equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'nan'])
    found.push(form(`set.${how}.u32.f32`, 'u32 <- f32 f32'), form(`set.${how}.f16.f32`, 'f16 <- f32 f32'));
  found.push(form('set.num.bf16.f64', 'bf16 <- f64 f64'), form('set.lt.ftz.f16.f32', 'f16 <- f32 f32'));
  for (const how of ['lo', 'ls', 'hi', 'hs'])
    found.push(form(`set.${how}.u32.u64`, 'u32 <- u64 u64'), form(`set.${how}.f16.u32`, 'f16 <- u32 u32'));
  for (const how of ['eq', 'ne', 'lt', 'gt', 'ge'])
    found.push(form(`set.${how}.bf16.s32`, 'bf16 <- s32 s32'));
  for (const join of ['and', 'or', 'xor']) found.push(form(`set.lt.${join}.f16.s32`, 'f16 <- s32 s32 pred'));
  for (const from of ['b16', 'b32', 'b64']) {
    for (const to of ['f16', 'bf16']) found.push(form(`set.eq.${to}.${from}`, `${to} <- ${from} ${from}`));
    for (const to of ['u32', 's32', 'f32'])
      found.push(form(`set.eq.${to}.${from}`, `${to} <- ${from} ${from}`));
  }
  for (const from of [...ints, 'f32', 'f64']) {
    for (const to of ['u32', 's32', 'f32', 'f16', 'bf16'])
      found.push(form(`set.le.${to}.${from}`, `${to} <- ${from} ${from}`));
  }
  found.push(form('set.gt.ftz.f32.f32', 'f32 <- f32 f32'), form('set.num.f32.f32', 'f32 <- f32 f32'));
  return found;
}

export const integerForms: readonly VectorForm[] = [...plain(), ...bitForms(), ...joined()];
