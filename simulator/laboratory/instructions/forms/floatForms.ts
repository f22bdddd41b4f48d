import { form, type VectorForm } from './vectorForm.js';

export const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
export const floatComparisons = 'eq ne lt le gt ge equ neu ltu leu gtu geu num nan'.split(' ');

function exact(): VectorForm[] {
  const found: VectorForm[] = [];
  const unary = (name: string, type: string): number =>
    found.push(form(`${name}.${type}`, `${type} <- ${type}`));
  const binary = (name: string, type: string): number =>
    found.push(form(`${name}.${type}`, `${type} <- ${type} ${type}`));
  const ternary = (name: string, type: string): number =>
    found.push(form(`${name}.${type}`, `${type} <- ${type} ${type} ${type}`));
  for (const type of ['f32', 'f64']) {
    for (const how of roundings) {
      for (const opcode of ['add', 'sub', 'mul', 'div']) binary(`${opcode}.${how}`, type);
      for (const opcode of ['rcp', 'sqrt']) unary(`${opcode}.${how}`, type);
      for (const opcode of ['fma', 'mad']) ternary(`${opcode}.${how}`, type);
    }
    for (const opcode of ['add', 'sub', 'mul', 'min', 'max', 'copysign']) binary(opcode, type);
    for (const opcode of ['neg', 'abs']) unary(opcode, type);
    for (const how of floatComparisons) found.push(form(`setp.${how}.${type}`, `pred <- ${type} ${type}`));
    for (const what of ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'])
      found.push(form(`testp.${what}.${type}`, `pred <- ${type}`));
  }
  for (const how of roundings) {
    for (const opcode of ['add', 'sub', 'mul']) {
      for (const extra of ['ftz', 'sat', 'ftz.sat']) binary(`${opcode}.${how}.${extra}`, 'f32');
    }
    for (const extra of ['ftz', 'sat', 'ftz.sat']) {
      ternary(`fma.${how}.${extra}`, 'f32');
      ternary(`mad.${how}.${extra}`, 'f32');
    }
    binary(`div.${how}.ftz`, 'f32');
    for (const opcode of ['rcp', 'sqrt']) unary(`${opcode}.${how}.ftz`, 'f32');
  }
  for (const what of ['min', 'max']) {
    for (const extra of ['ftz', 'NaN', 'ftz.NaN', 'xorsign.abs', 'NaN.xorsign.abs', 'ftz.NaN.xorsign.abs'])
      binary(`${what}.${extra}`, 'f32');
  }
  for (const opcode of ['neg.ftz', 'abs.ftz']) unary(opcode, 'f32');
  for (const how of ['lt', 'equ', 'ne', 'nan']) found.push(form(`setp.${how}.ftz.f32`, 'pred <- f32 f32'));
  return found;
}

export const floatForms: readonly VectorForm[] = exact();

/** `.approx` functions of f32 and f64. */
export const approximateForms: readonly VectorForm[] = [
  ...['rcp', 'sqrt', 'rsqrt', 'lg2', 'ex2'].flatMap((opcode) => [
    form(`${opcode}.approx.f32`, 'f32 <- f32'),
    form(`${opcode}.approx.ftz.f32`, 'f32 <- f32'),
  ]),
  ...['sin', 'cos'].flatMap((opcode) => [
    form(`${opcode}.approx.f32`, 'f32 <- angle'),
    form(`${opcode}.approx.ftz.f32`, 'f32 <- angle'),
  ]),
  form('tanh.approx.f32', 'f32 <- f32'),
  form('div.approx.f32', 'f32 <- f32 f32'),
  form('div.approx.ftz.f32', 'f32 <- f32 f32'),
  form('div.full.f32', 'f32 <- f32 f32'),
  form('div.full.ftz.f32', 'f32 <- f32 f32'),
  form('rsqrt.approx.f64', 'f64 <- f64'),
  form('rsqrt.approx.ftz.f64', 'f64 <- f64'),
  form('rcp.approx.ftz.f64', 'f64 <- f64'),
];
