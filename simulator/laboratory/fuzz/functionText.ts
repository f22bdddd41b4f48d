import { KernelText, registerCounts } from './kernelText.js';
import type { SeededRandom } from '../../random/index.js';
import type { StatementContext } from './statementContext.js';

/** What every generated device function takes and gives. */
const parameters = ['.param .b32', '.param .b64', '.param .f32', '.param .b32'] as const;

/**
 * A device function of registers: it may call those before it, and itself until its last argument has run out.
 * @param write adds its statements to the text given; returns how many counters it needs
 */
export function deviceFunction(
  random: SeededRandom,
  number: number,
  write: (text: KernelText) => number,
): string[] {
  const body = new KernelText(random, `$F${number}_`);
  const counters = write(body);
  const isRecursive = random.chance(0.4);
  const end = body.label();
  if (isRecursive) {
    body.emit('setp.le.s32 %flow, %left, 0;', `@%flow bra ${end};`, 'sub.s32 %left, %left, 1;');
    call(body, `fuzzFunction${number}`, '%left', '');
    body.place(end);
  }
  const names = ['a', 'b', 'c', 'left'].map((name) => `fuzzFunction${number}_${name}`);
  return [
    `.func (.param .b32 fuzzFunction${number}_result) fuzzFunction${number}(`,
    ...names.map((name, index) => `\t${parameters[index] ?? ''} ${name}${index < 3 ? ',' : ''}`),
    ')',
    '{',
    ...registers(counters),
    `\tld.param.b32 %r0, [${names[0] ?? ''}];`,
    `\tld.param.b64 %q0, [${names[1] ?? ''}];`,
    `\tld.param.f32 %f0, [${names[2] ?? ''}];`,
    `\tld.param.b32 %left, [${names[3] ?? ''}];`,
    ...initialise(),
    ...body.lines,
    `\txor.b32 %r0, %r0, %r${random.below(registerCounts.r)};`,
    `\tst.param.b32 [fuzzFunction${number}_result], %r0;`,
    '\tret;',
    '}',
    '',
  ];
}

function registers(counters: number): string[] {
  return [
    `\t.reg .b16 %h<${registerCounts.h}>;`,
    `\t.reg .b32 %r<${registerCounts.r}>;`,
    `\t.reg .b64 %q<${registerCounts.q}>;`,
    `\t.reg .f32 %f<${registerCounts.f}>;`,
    `\t.reg .f64 %d<${registerCounts.d}>;`,
    `\t.reg .pred %p<${registerCounts.p}>, %flow;`,
    `\t.reg .b32 %c<${Math.max(counters, 1)}>, %index, %field, %left;`,
    '\t.reg .b64 %address;',
  ];
}

function initialise(): string[] {
  const lines: string[] = ['mov.u32 %field, 0;'];
  for (let index = 1; index < registerCounts.r; index++)
    lines.push(`mad.lo.u32 %r${index}, %r0, ${index * 37}, ${index * 101};`);
  for (let index = 0; index < registerCounts.h; index++) lines.push(`cvt.u16.u32 %h${index}, %r${index};`);
  for (let index = 1; index < registerCounts.q; index++)
    lines.push(`mad.lo.u64 %q${index}, %q0, ${index * 37}, ${index};`);
  for (let index = 1; index < registerCounts.f; index++) lines.push(`cvt.rn.f32.s32 %f${index}, %r${index};`);
  for (let index = 0; index < registerCounts.d; index++) lines.push(`cvt.f64.f32 %d${index}, %f${index};`);
  for (let index = 0; index < registerCounts.p; index++)
    lines.push(`setp.lt.s32 %p${index}, %r${index}, %r${index + 1};`);
  return lines.map((line) => `\t${line}`);
}

/** A call by name, or through a register and a prototype. */
function call(text: KernelText, target: string, left: string, prototype: string): void {
  text.emit(
    '{',
    '.param .b32 given0; .param .b64 given1; .param .f32 given2; .param .b32 given3; .param .b32 taken;',
    `st.param.b32 [given0], ${text.register('r')};`,
    `st.param.b64 [given1], ${text.register('q')};`,
    `st.param.f32 [given2], ${text.register('f')};`,
    `st.param.b32 [given3], ${left};`,
    `call (taken), ${target}, (given0, given1, given2, given3)${prototype};`,
    `ld.param.b32 ${text.register('r')}, [taken];`,
    '}',
  );
}

/** A call of one of the device functions, in the table or by its name. */
export function functionCall({ text, style }: StatementContext): void {
  const { random } = text;
  if (style.isFunction || random.chance(0.6)) {
    text.emit(`and.b32 %index, ${text.register('r')}, 3;`);
    call(text, `fuzzFunction${random.below(style.functions)}`, '%index', '');
    return;
  }
  const prototype = text.label();
  text.place(
    prototype,
    `.callprototype (.param .b32 _) _ (${parameters.map((each) => `${each} _`).join(', ')});`,
  );
  text.emit(`rem.u32 %index, ${text.register('r')}, ${style.functions};`, 'mov.u64 %address, fuzzFunctions;');
  text.emit('mad.wide.u32 %address, %index, 8, %address;', 'ld.global.u64 %address, [%address];');
  text.emit(`and.b32 %index, ${text.register('r')}, 3;`);
  call(text, '%address', '%index', `, ${prototype}`);
}
