import { planesOffset, threadBytes } from './fuzzCase.js';
import { distinct } from './memoryStatements.js';
import type { Flow, StatementContext, WalkRegisters } from './statementContext.js';

/** What every thread moves at once: the type, the letter of its registers, bytes of an element, elements. */
const accesses = [
  ['s8', 'r', 1, 1],
  ['u16', 'h', 2, 1],
  ['u32', 'r', 4, 1],
  ['f32', 'f', 4, 1],
  ['u64', 'q', 8, 1],
  ['f64', 'd', 8, 1],
  ['v2.f32', 'f', 4, 2],
  ['v2.u64', 'q', 8, 2],
  ['v4.u32', 'r', 4, 4],
  ['v4.f32', 'f', 4, 4],
] as const;

const MOST_ROUNDS = 4;
/** Bytes from round to round in the input, at most: with as many rounds the last thread stays inside. */
const MOST_STEP = 256;

/** The registers of a kernel's walk of that number. */
export function walkRegisters(number: number): WalkRegisters {
  return {
    start: `%start${number}`,
    at: `%at${number}`,
    most: `%most${number}`,
    count: `%count${number}`,
    goes: `%goes${number}`,
    leaves: `%leaves${number}`,
  };
}

/** Declares what walks use: what `walkPrologue` sets, and the registers of each. */
export function walkDeclarations(count: number): string[] {
  const all = Array.from({ length: count }, (_, number) => walkRegisters(number));
  const list = (pick: (each: WalkRegisters) => readonly string[], ...more: string[]): string =>
    [...more, ...all.flatMap(pick)].join(', ');
  return [
    `\t.reg .b32 ${list(({ most, count }) => [most, count], '%place', '%spot', '%row', '%rows', '%plane', '%width')};`,
    `\t.reg .b64 ${list(({ start, at }) => [start, at], '%planes', '%far')};`,
    `\t.reg .pred ${list(({ goes, leaves }) => [goes, leaves], '%other')};`,
  ];
}

/**
 * Sets the thread's place in its row and its spot in the grid, in registers that differ by one from lane to lane, and the
 * start of the memory where threads lie side by side.
 */
export function walkPrologue(threads: number, gridThreads: number): string[] {
  return [
    'mov.u32 %row, %tid.z;',
    'mov.u32 %rows, %ntid.y;',
    'mov.u32 %width, %tid.y;',
    'mad.lo.u32 %row, %row, %rows, %width;',
    'mov.u32 %width, %ntid.x;',
    'mul.lo.u32 %row, %row, %width;',
    'mov.u32 %plane, %ctaid.z;',
    'mov.u32 %rows, %nctaid.y;',
    'mov.u32 %width, %ctaid.y;',
    'mad.lo.u32 %plane, %plane, %rows, %width;',
    'mov.u32 %rows, %nctaid.x;',
    'mov.u32 %width, %ctaid.x;',
    'mad.lo.u32 %plane, %plane, %rows, %width;',
    `mad.lo.u32 %row, %plane, ${threads}, %row;`,
    'mov.u32 %place, %tid.x;',
    'add.u32 %spot, %row, %place;',
    'ld.param.u64 %planes, [fuzz_out];',
    'cvta.to.global.u64 %planes, %planes;',
    `add.s64 %planes, %planes, ${gridThreads * threadBytes};`,
  ];
}

/**
 * Threads that go the same number of rounds, or not, through memory where neighbours lie side by side, when those that have
 * something else to do have left; and what they do then.
 */
export function walk(context: StatementContext, flow: Flow): void {
  const { text, style } = context;
  const { random } = text;
  const [type, letter, bytes, elements] = random.pick(accesses);
  const size = bytes * elements;
  const { start, at, most, count, goes, leaves } = context.walk();
  const [top, behind, end] = [text.label(), text.label(), text.label()];
  const inner: Flow = {
    isUniform: false,
    depth: flow.depth + 1,
    loopEnds: [...(flow.isUniform ? [] : flow.loopEnds), end],
  };
  const values = (): string => {
    const registers = distinct(text, letter, elements);
    return elements === 1 ? registers : `{${registers}}`;
  };
  const isOwn = random.chance(0.4);
  if (isOwn) {
    text.emit(`mul.wide.u32 ${start}, %spot, ${size};`, `add.s64 ${start}, ${start}, %planes;`);
    const from = planesOffset(size, style.gridThreads);
    if (from > 0) text.emit(`add.s64 ${start}, ${start}, ${from};`);
  } else text.emit(`mul.wide.u32 ${start}, %place, ${size};`, `add.s64 ${start}, ${start}, %in;`);
  someLeave(context, leaves, end);

  const goesUp = random.chance(0.5);
  text.emit(`mov.u64 ${at}, ${start};`, ...rounds(context, most));
  if (random.chance(0.3)) text.emit(`setp.lt.s32 ${goes}, ${most}, 1;`, `@${goes} bra ${behind};`);
  text.emit(`mov.u32 ${count}, ${goesUp ? '0' : most};`);
  text.place(top);
  for (let loads = random.between(1, 3); loads > 0; loads--) {
    const offset = isOwn ? 0 : random.below(4) * size;
    text.emit(`${context.guard()}ld.global.${type} ${values()}, [${at}${offset === 0 ? '' : `+${offset}`}];`);
    if (random.chance(0.4)) context.compute();
  }
  if (random.chance(0.15)) context.block(inner);
  if (isOwn && random.chance(0.7)) text.emit(`${context.guard()}st.global.${type} [${at}], ${values()};`);
  const step = isOwn ? style.gridThreads * size : random.between(1, MOST_STEP / size) * size;
  text.emit(`add.s64 ${at}, ${at}, ${step};`, `add.s32 ${count}, ${count}, ${goesUp ? 1 : -1};`);
  text.emit(goesUp ? `setp.lt.s32 ${goes}, ${count}, ${most};` : `setp.gt.s32 ${goes}, ${count}, 0;`);
  text.emit(`@${goes} bra ${top};`);
  text.place(behind);
  if (random.chance(0.2))
    text.emit(`selp.b32 ${text.register('r')}, ${most}, ${text.register('r')}, ${goes};`);
  if (random.chance(0.2)) text.emit(`sub.s64 ${text.register('q')}, ${at}, ${start};`);
  context.compute();
  if (isOwn) text.emit(`st.global.${type} [${start}], ${values()};`);
  if (random.chance(0.4)) context.block(inner);
  text.place(end);
}

/** How often to go round: the same for all, or as many times as a register tells; 1 to 4. */
function rounds({ text }: StatementContext, most: string): string[] {
  const { random } = text;
  if (random.chance(0.6)) return [`mov.u32 ${most}, ${random.between(1, MOST_ROUNDS)};`];
  const many = random.chance(0.5) ? text.register('r') : most;
  return [
    ...(many === most ? [`ld.param.u32 ${most}, [fuzz_n];`] : []),
    `and.b32 ${most}, ${many}, ${MOST_ROUNDS - 1};`,
    `add.s32 ${most}, ${most}, 1;`,
  ];
}

/** A way past what follows for some threads: many, few, few of a part of the block, those beyond an edge, or nobody. */
function someLeave(context: StatementContext, leaves: string, end: string): void {
  const { text, style } = context;
  const { random } = text;
  const few = (): void => {
    text.emit(
      `and.b32 %index, ${text.register('r')}, ${random.pick([7, 15])};`,
      `setp.eq.u32 ${leaves}, %index, 0;`,
    );
  };
  switch (random.below(6)) {
    case 0:
      text.emit(`@${random.chance(0.4) ? '!' : ''}${text.register('p')} bra ${end};`);
      return;
    case 1:
      few();
      break;
    case 2:
    case 3:
      few();
      text.emit(
        `setp.lt.u32 %other, %thread, ${random.between(1, style.activeThreads)};`,
        `and.pred ${leaves}, ${leaves}, %other;`,
      );
      break;
    case 4:
      edge(context, leaves);
      break;
    default:
      return;
  }
  text.emit(`@${leaves} bra ${end};`);
}

/** A condition of where a thread stands in its row or in the grid. */
function edge({ text, style }: StatementContext, target: string): void {
  const { random } = text;
  const isEqual = random.chance(0.2);
  const test = random.pick(isEqual ? ['eq', 'ne'] : ['lt', 'le', 'gt', 'ge']);
  const type = random.pick(isEqual ? ['b32', 's32'] : ['s32', 'u32']);
  const operands = [
    random.chance(0.6) ? '%place' : '%spot',
    String(random.below(random.chance(0.3) ? style.gridThreads : 34)),
  ];
  if (random.chance(0.3)) operands.reverse();
  if (random.chance(0.25)) {
    const wide = operands.map((operand) => (operand.startsWith('%') ? '%far' : operand));
    text.emit(`cvt.u64.u32 %far, ${operands.find((operand) => operand.startsWith('%')) ?? '%place'};`);
    text.emit(`setp.${test}.${type.replace('32', '64')} ${target}, ${wide.join(', ')};`);
  } else text.emit(`setp.${test}.${type} ${target}, ${operands.join(', ')};`);
  if (random.chance(0.3)) {
    text.emit('ld.param.u32 %rows, [fuzz_n];', `setp.lt.u32 %other, %rows, ${random.between(1, 8)};`);
    text.emit(`${random.pick(['and', 'or'])}.pred ${target}, ${target}, %other;`);
  }
}
