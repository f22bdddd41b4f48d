import { floatComparisons } from './floatForms.js';
import { form, type VectorForm } from './vectorForm.js';

const halves = ['f16', 'f16x2', 'bf16', 'bf16x2'] as const;

function modifiersOf(type: string): {
  arithmetic: string[];
  fused: string[];
  sign: string[];
  extreme: string[];
} {
  const isBrain = type.startsWith('b');
  const extremes = ['', '.NaN', '.xorsign.abs', '.NaN.xorsign.abs'];
  return isBrain
    ? { arithmetic: ['', '.rn'], fused: ['.rn', '.rn.relu'], sign: [''], extreme: extremes }
    : {
        arithmetic: ['', '.rn', '.ftz', '.sat', '.ftz.sat', '.rn.ftz.sat'],
        fused: ['.rn', '.rn.ftz', '.rn.sat', '.rn.ftz.sat', '.rn.relu', '.rn.ftz.relu'],
        sign: ['', '.ftz'],
        extreme: [...extremes, '.ftz', '.ftz.NaN', '.ftz.xorsign.abs', '.ftz.NaN.xorsign.abs'],
      };
}

function forms(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const type of halves) {
    const modifiers = modifiersOf(type);
    const isPacked = type.endsWith('x2');
    const isBrain = type.startsWith('b');
    for (const opcode of ['add', 'sub', 'mul']) {
      for (const extra of modifiers.arithmetic)
        found.push(form(`${opcode}${extra}.${type}`, `${type} <- ${type} ${type}`));
    }
    for (const extra of modifiers.fused)
      found.push(form(`fma${extra}.${type}`, `${type} <- ${type} ${type} ${type}`));
    for (const opcode of ['neg', 'abs']) {
      for (const extra of modifiers.sign) found.push(form(`${opcode}${extra}.${type}`, `${type} <- ${type}`));
    }
    for (const opcode of ['min', 'max']) {
      for (const extra of modifiers.extreme)
        found.push(form(`${opcode}${extra}.${type}`, `${type} <- ${type} ${type}`));
    }
    for (const how of floatComparisons) {
      if (isPacked) {
        found.push(
          form(
            `setp.${how}.${type}`,
            `pred pred <- ${type} ${type}`,
            `setp.${how}.${type} %d0|%d1, %s0, %s1;`,
          ),
        );
      } else found.push(form(`setp.${how}.${type}`, `pred <- ${type} ${type}`));
    }
    for (const join of ['and', 'or', 'xor']) {
      found.push(
        isPacked
          ? form(
              `setp.ltu.${join}.${type}`,
              `pred pred <- ${type} ${type} pred`,
              `setp.ltu.${join}.${type} %d0|%d1, %s0, %s1, %s2;`,
            )
          : form(`setp.ltu.${join}.${type}`, `pred <- ${type} ${type} pred`),
      );
    }
    if (!isBrain)
      found.push(
        form(
          `setp.lt.ftz.${type}`,
          isPacked ? `pred pred <- ${type} ${type}` : `pred <- ${type} ${type}`,
          ...(isPacked ? [`setp.lt.ftz.${type} %d0|%d1, %s0, %s1;`] : []),
        ),
      );
    const whole = isPacked ? [type] : [type, 'u16', 'u32'];
    for (const to of whole) {
      for (const how of floatComparisons)
        found.push(form(`set.${how}.${to}.${type}`, `${to} <- ${type} ${type}`));
    }
    for (const join of ['and', 'or', 'xor'])
      found.push(form(`set.leu.${join}.${type}.${type}`, `${type} <- ${type} ${type} pred`));
    if (!isBrain) found.push(form(`set.gt.ftz.${type}.${type}`, `${type} <- ${type} ${type}`));
    if (isPacked) {
      for (const how of ['lt', 'neu', 'ge', 'nan'])
        found.push(form(`set.${how}.${type}.${type}`, `${type} <- ${type} ${type}`));
      for (const to of ['u32', 's32']) found.push(form(`set.lt.${to}.${type}`, `${to} <- ${type} ${type}`));
      found.push(form(`set.gt.and.${type}.${type}`, `${type} <- ${type} ${type} pred`));
    } else {
      for (const to of [type, 'u16', 's16', 'u32', 's32'])
        for (const how of ['lt', 'neu'])
          found.push(form(`set.${how}.${to}.${type}`, `${to} <- ${type} ${type}`));
      found.push(form(`set.gt.xor.${type}.${type}`, `${type} <- ${type} ${type} pred`));
    }
  }
  return found;
}

export const halfForms: readonly VectorForm[] = forms();

export const approximateHalfForms: readonly VectorForm[] = [
  form('ex2.approx.f16', 'f16 <- f16'),
  form('ex2.approx.f16x2', 'f16x2 <- f16x2'),
  form('ex2.approx.ftz.bf16', 'bf16 <- bf16'),
  form('ex2.approx.ftz.bf16x2', 'bf16x2 <- bf16x2'),
  ...halves.map((type) => form(`tanh.approx.${type}`, `${type} <- ${type}`)),
];
