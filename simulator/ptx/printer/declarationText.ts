import type { IrDeclaration, IrParameter, IrRegister, IrVariable, ScalarType } from '../ir.js';
import { typeBytes } from '../scalarTypes.js';
import { initialiserText } from './initialiserText.js';

/** `( .param .u64 a, .param .align 8 .b8 b[24] )`. */
export function parameterListText(parameters: readonly IrParameter[]): string {
  return `(${parameters.map(parameterText).join(', ')})`;
}

export function parameterText({ name, type, bytes, align }: IrParameter): string {
  return `.param ${alignText(type, align)}.${type} ${name}${extentText(type, bytes, bytes === 0)}`;
}

/** A function up to its body. */
export function headText(declaration: IrDeclaration): string {
  const { linkage, isEntry, name, parameters, returns, directives } = declaration;
  const parts = linkage === undefined ? [] : [`.${linkage}`];
  parts.push(isEntry ? '.entry' : '.func');
  if (returns.length > 0) parts.push(parameterListText(returns));
  const given =
    parameters.length <= 1
      ? parameterListText(parameters)
      : `(\n${parameters.map((parameter) => `  ${parameterText(parameter)}`).join(',\n')}\n)`;
  parts.push(`${name}${given}`);
  const tuning = Object.entries(directives).map(([directive, values]) =>
    values.length === 0 ? `.${directive}` : `.${directive} ${values.join(', ')}`,
  );
  return [parts.join(' '), ...tuning].join('\n');
}

/** A variable with its `;`. */
export function variableText(variable: IrVariable): string {
  const { linkage, space, type, align, name, bytes, isExtern, initial } = variable;
  const link = linkage === undefined ? '' : `.${linkage} `;
  const isOpen = bytes === 0 && isExtern;
  const extent = extentText(type, bytes, isOpen);
  const values = initial === undefined ? '' : initialiserText(variable, initial);
  return `${link}.${space} ${alignText(type, align)}.${type} ${name}${extent}${values};`;
}

function alignText(type: ScalarType, align: number): string {
  return align === typeBytes(type) ? '' : `.align ${align} `;
}

function extentText(type: ScalarType, bytes: number, isOpen: boolean): string {
  if (isOpen) return '[]';
  const count = bytes / typeBytes(type);
  return count === 1 ? '' : `[${count}]`;
}

/** Numbered names beyond this are declared one by one. */
const largestRange = 1 << 20;

/** Declarations of registers: those of one name with numbers as a range, the others by name. */
export function registerTexts(registers: readonly IrRegister[]): string[] {
  const ranges = new Map<string, { type: ScalarType; count: number; members: IrRegister[] }>();
  const single: IrRegister[] = [];
  for (const register of registers) {
    const [, prefix = '', digits = ''] = /^(.*?)(0|[1-9]\d*)$/.exec(register.name) ?? [];
    const number = Number(digits);
    const range = ranges.get(prefix);
    const isNumbered = digits !== '' && prefix !== '' && !/\d$/.test(prefix) && number < largestRange;
    if (!isNumbered || (range !== undefined && range.type !== register.type)) {
      single.push(register);
      continue;
    }
    if (range === undefined)
      ranges.set(prefix, { type: register.type, count: number + 1, members: [register] });
    else {
      range.count = Math.max(range.count, number + 1);
      range.members.push(register);
    }
  }
  const texts: string[] = [];
  for (const [prefix, { type, count, members }] of ranges) {
    const isMixed = single.some(({ name }) => isInRange(name, prefix, count));
    if (members.length === 1 || isMixed) single.push(...members);
    else texts.push(`.reg .${type} ${prefix}<${count}>;`);
  }
  return [...texts, ...single.map(({ type, name }) => `.reg .${type} ${name};`)];
}

function isInRange(name: string, prefix: string, count: number): boolean {
  if (!name.startsWith(prefix)) return false;
  const digits = name.slice(prefix.length);
  return /^(0|[1-9]\d*)$/.test(digits) && Number(digits) < count;
}
