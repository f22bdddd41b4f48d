import type { Flow, StatementContext } from './statementContext.js';

/** A branch by table: to one of several blocks, some of which fall into the next. */
export function tableSwitch(context: StatementContext, flow: Flow): void {
  const { text } = context;
  const { random } = text;
  const arms = random.between(2, 5);
  const isUniform = flow.isUniform && random.chance(0.4);
  const inner = { ...flow, isUniform, depth: flow.depth + 1 };
  const labels = Array.from({ length: arms }, () => text.label());
  const [table, end] = [text.label(), text.label()];
  if (isUniform) text.emit('mov.u32 %index, %ctaid.x;', `rem.u32 %index, %index, ${arms};`);
  else text.emit(`rem.u32 %index, ${text.register('r')}, ${arms};`);
  const entries = Array.from({ length: arms }, (_, arm) => labels[random.chance(0.2) ? 0 : arm] ?? end);
  if (random.chance(0.3)) entries[entries.length - 1] = end;
  text.place(table, `.branchtargets ${entries.join(', ')};`);
  const guard = isUniform ? '' : context.guard();
  text.emit(`${guard}brx.idx${isUniform ? '.uni' : ''} %index, ${table};`);
  for (const label of labels) {
    text.place(label);
    context.block(inner);
    if (random.chance(0.6)) text.emit(`bra ${end};`);
  }
  text.place(end);
  meetAgain(context, flow);
}

/** Blocks that branch to one another at will, forth and back, until a counter has run out. */
export function tangle(context: StatementContext, flow: Flow): void {
  const { text } = context;
  const { random } = text;
  const counter = context.counter();
  const end = text.label();
  const labels = Array.from({ length: random.between(3, 6) }, () => text.label());
  const inner: Flow = {
    isUniform: false,
    depth: flow.depth + 2,
    loopEnds: [...(flow.isUniform ? [] : flow.loopEnds), end],
  };
  text.emit(`and.b32 ${counter}, ${text.register('r')}, 7;`, `add.s32 ${counter}, ${counter}, 3;`);
  if (random.chance(0.6)) text.emit(`@${text.register('p')} bra ${random.pick(labels)};`);
  for (const label of labels) {
    text.place(label);
    if (random.chance(0.4)) context.block(inner);
    else context.compute();
    text.emit(
      `sub.s32 ${counter}, ${counter}, 1;`,
      `setp.le.s32 %flow, ${counter}, 0;`,
      `@%flow bra ${end};`,
    );
    const sign = random.chance(0.5) ? '!' : '';
    if (random.chance(0.8)) text.emit(`@${sign}${text.register('p')} bra ${random.pick(labels)};`);
  }
  if (random.chance(0.5)) text.emit(`bra ${random.pick(labels)};`);
  text.place(end);
  meetAgain(context, flow);
}

/** A card need not bring the lanes of a warp together behind such branches, and its aligned barriers ask for that. */
function meetAgain({ text, style }: StatementContext, flow: Flow): void {
  if (style.forCard && style.isCooperative && flow.isUniform) text.emit('bar.warp.sync 0xffffffff;');
}

/** An addition, subtraction or multiply-add over several words, whose carry goes from one instruction to the next. */
export function carryChain(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const letter = random.chance(0.7) ? 'r' : 'q';
  const type = `${random.pick(['u', 's'])}${letter === 'r' ? 32 : 64}`;
  const subtracts = random.chance(0.35);
  const operands = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      index === 1 && random.chance(0.2) ? text.immediate(letter) : text.register(letter),
    ).join(', ');
  const link = (reads: boolean, writes: boolean): void => {
    const cc = writes ? '.cc' : '';
    const isProduct = !subtracts && random.chance(0.4);
    const opcode = subtracts ? 'sub' : isProduct ? 'mad' : 'add';
    const half = isProduct ? random.pick(['.lo', '.hi']) : '';
    const name = `${opcode}${reads ? 'c' : ''}${half}${cc}.${type}`;
    text.emit(`${name} ${text.register(letter)}, ${operands(isProduct ? 3 : 2)};`);
  };
  link(false, true);
  for (let left = random.below(4); left > 0; left--) {
    if (random.chance(0.2)) context.compute();
    link(true, true);
  }
  link(true, false);
}
