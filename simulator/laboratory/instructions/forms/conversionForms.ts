import { roundings } from './floatForms.js';
import { form, type VectorForm } from './vectorForm.js';

const ints = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64'] as const;
const floats = ['f16', 'bf16', 'f32', 'f64'] as const;
const integral = ['rni', 'rzi', 'rmi', 'rpi'] as const;
const widthOf: Readonly<Record<string, number>> = { f16: 16, bf16: 16, f32: 32, f64: 64 };

/** PTX has `.sat` only where a value may lie outside the type. */
function clampsBetween(to: string, from: string): boolean {
  const [toBits, fromBits] = [Number(to.slice(1)), Number(from.slice(1))];
  if (to.startsWith('s') === from.startsWith('s')) return fromBits > toBits;
  return to.startsWith('s') ? fromBits >= toBits : true;
}

function cvt(modifiers: string, to: string, from: string): VectorForm {
  return form(['cvt', ...(modifiers === '' ? [] : [modifiers]), to, from].join('.'), `${to} <- ${from}`);
}

function forms(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const to of ints) {
    for (const from of ints) {
      found.push(cvt('', to, from));
      if (clampsBetween(to, from)) found.push(cvt('sat', to, from));
    }
    for (const from of floats) {
      if (from === 'bf16' && to.endsWith('8')) continue;
      for (const how of integral) found.push(cvt(how, to, from));
    }
    for (const how of integral) found.push(cvt(`${how}.ftz`, to, 'f32'));
    for (const from of ['f32', 'f64', 'f16']) found.push(cvt('rzi.sat', to, from));
    for (const target of floats) {
      if (target === 'bf16' && to.endsWith('8')) continue;
      for (const how of roundings) found.push(cvt(how, target, to));
    }
    found.push(cvt('rn.sat', 'f32', to), cvt('rn.sat', 'f16', to), cvt('rz.sat', 'f64', to));
  }
  // Results in a wider register than the type: filled by sign or with zeros.
  for (const [to, from] of [
    ['u8', 'u32'],
    ['s8', 's32'],
    ['s16', 's32'],
    ['u16', 's64'],
    ['s32', 'u64'],
  ] as const) {
    for (const register of ['b32', 'b64'])
      found.push(
        form(`cvt.${to}.${from} ${register}`, `${register} <- ${from}`, `cvt.${to}.${from} %d0, %s0;`),
      );
  }
  found.push(
    form('cvt.rzi.u8.f32 b32', 'b32 <- f32', 'cvt.rzi.u8.f32 %d0, %s0;'),
    form('cvt.rzi.s8.f32 b64', 'b64 <- f32', 'cvt.rzi.s8.f32 %d0, %s0;'),
    form('cvt.f32.f16 b64', 'b64 <- f16', 'cvt.f32.f16 %d0, %s0;'),
    form('cvt.rn.f32.s8 b32', 'f32 <- b32', 'cvt.rn.f32.s8 %d0, %s0;'),
    form('cvt.s32.s8 b64', 's32 <- b64', 'cvt.s32.s8 %d0, %s0;'),
  );
  for (const to of floats) {
    for (const from of floats) {
      const saturates = to !== 'bf16' && from !== 'bf16';
      const extras = ['', ...(from === 'f32' || to === 'f32' ? ['ftz'] : []), ...(saturates ? ['sat'] : [])];
      for (const extra of extras) {
        const tail = extra === '' ? '' : `.${extra}`;
        if (to === from) {
          for (const how of integral) found.push(cvt(how + tail, to, from));
          found.push(cvt(extra, to, from));
        } else if ((widthOf[to] ?? 0) > (widthOf[from] ?? 0)) found.push(cvt(extra, to, from));
        else for (const how of roundings) found.push(cvt(how + tail, to, from));
      }
    }
  }
  for (const how of roundings) found.push(cvt(`${how}.ftz.sat`, 'f32', 'f64'));
  for (const to of ['f16', 'bf16']) {
    for (const how of ['rn', 'rz']) {
      for (const extra of ['relu', 'satfinite', 'relu.satfinite'])
        found.push(cvt(`${how}.${extra}`, to, 'f32'));
      for (const extra of ['', '.relu', '.satfinite', '.relu.satfinite'])
        found.push(form(`cvt.${how}${extra}.${to}x2.f32`, `${to}x2 <- f32 f32`));
    }
  }
  for (const how of ['rna', 'rn', 'rz', 'rna.satfinite', 'rn.relu', 'rz.relu'])
    found.push(cvt(how, 'tf32', 'f32'));
  for (const small of ['e4m3x2', 'e5m2x2']) {
    for (const extra of ['', '.relu']) {
      found.push(form(`cvt.rn.satfinite${extra}.${small}.f32`, `${small} <- f32 f32`));
      found.push(form(`cvt.rn.satfinite${extra}.${small}.f16x2`, `${small} <- f16x2`));
      found.push(form(`cvt.rn${extra}.f16x2.${small}`, `f16x2 <- ${small}`));
    }
  }
  for (const to of ['u8', 's8', 'u16', 's16']) {
    if (to.endsWith('8')) found.push(form(`cvt.pack.sat.${to}.s32.b32`, 'b32 <- s32 s32 b32'));
    else found.push(form(`cvt.pack.sat.${to}.s32`, 'b32 <- s32 s32'));
  }
  return found;
}

export const conversionForms: readonly VectorForm[] = forms();
