import { activeWarps } from './statementContext.js';
import type { StatementContext } from './statementContext.js';

/** Lanes that a predicate selects work together in a branch of their own. */
export function maskedWarp(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const end = text.label();
  const predicate = text.register('p');
  text.emit(`vote.sync.ballot.b32 %mask, ${predicate}, 0xffffffff;`, `@!${predicate} bra ${end};`);
  text.emit('brev.b32 %lane, %mask;', 'clz.b32 %lane, %lane;');
  for (let left = random.between(1, 3); left > 0; left--) {
    if (random.chance(0.4)) context.compute();
    text.emit(...maskedOperation(context));
  }
  text.place(end);
}

function maskedOperation({ text, style }: StatementContext): string[] {
  const { random } = text;
  const [target, source, flag] = [text.register('r'), text.register('r'), text.register('p')];
  const pair = random.chance(0.4) ? `|${text.register('p')}` : '';
  return random.pick([
    [`shfl.sync.idx.b32 ${target}${pair}, ${source}, %lane, 31, %mask;`],
    [
      `redux.sync.${random.pick(['add.u32', 'add.s32', 'min.u32', 'max.s32', 'and.b32', 'or.b32', 'xor.b32'])} ${target}, ${source}, %mask;`,
    ],
    [`and.b32 %index, ${source}, 3;`, `match.any.sync.b32 ${target}, %index, %mask;`],
    [`and.b32 %index, ${source}, 1;`, `match.all.sync.b32 ${target}|${flag}, %index, %mask;`],
    [`match.any.sync.b64 ${target}, ${text.register('q')}, %mask;`],
    [
      `vote.sync.${random.pick(['any', 'all', 'uni'])}.pred ${text.register('p')}, ${random.pick(['', '!'])}${flag}, %mask;`,
    ],
    [`vote.sync.ballot.b32 ${target}, ${flag}, %mask;`],
    ['bar.warp.sync %mask;'],
    style.forCard ? ['bar.warp.sync %mask;'] : [`elect.sync ${target}|${flag}, %mask;`],
  ]);
}

/** A barrier of the block that also counts or joins a predicate of every thread. */
export function barrierReduction({ text, style }: StatementContext): void {
  const { random } = text;
  const [name, target] = random.pick([
    ['bar.red.popc.u32', text.register('r')],
    ['bar.red.and.pred', text.register('p')],
    ['barrier.red.or.pred', text.register('p')],
    ['barrier.red.popc.aligned.u32', text.register('r')],
  ] as const);
  const predicate = `${random.chance(0.3) ? '!' : ''}${text.register('p')}`;
  const isCounted = !style.mayLeave && random.chance(0.4);
  const count = isCounted ? `, ${activeWarps(style) * 32}` : '';
  text.emit(`${name} ${target}, ${isCounted ? random.between(1, 15) : 0}${count}, ${predicate};`);
}

/** Warps of even number fill their slots and go on; those of odd number wait for them and read. */
export function producersAndConsumers(context: StatementContext): void {
  const { text, style } = context;
  const [consumers, end] = [text.label(), text.label()];
  const barrier = `${text.random.between(1, 15)}, ${activeWarps(style) * 32}`;
  text.emit('bar.sync 0;', 'shr.u32 %index, %thread, 5;', 'and.b32 %index, %index, 1;');
  text.emit('setp.eq.u32 %flow, %index, 1;', `@%flow bra ${consumers};`);
  text.emit(`st.shared.u32 [%slot], ${text.register('r')};`, `bar.arrive ${barrier};`);
  context.compute();
  text.emit(`bra ${end};`);
  text.place(consumers);
  context.compute();
  text.emit(`bar.sync ${barrier};`, `ld.shared.u32 ${text.register('r')}, [%slot+-128];`);
  text.place(end);
  text.emit('bar.sync 0;');
}

/** Warps meet in pairs, each pair at a barrier of its own that a register names. */
export function pairsOfWarps(context: StatementContext): void {
  const { text, style } = context;
  const warps = activeWarps(style);
  text.emit('bar.sync 0;', `st.shared.u32 [%slot], ${text.register('r')};`);
  text.emit('shr.u32 %index, %thread, 6;', 'add.u32 %lane, %index, 1;', 'mov.u32 %size, 64;');
  if (warps % 2 === 1) {
    text.emit(`setp.eq.u32 %flow, %index, ${(warps - 1) / 2};`, '@%flow mov.u32 %size, 32;');
  }
  text.emit(text.random.chance(0.5) ? 'bar.sync %lane, %size;' : 'barrier.sync.aligned %lane, %size;');
  text.emit('xor.b32 %index, %thread, 32;', `setp.lt.u32 %flow, %index, ${style.activeThreads};`);
  text.emit('mad.lo.s32 %index, %index, 4, %slots;', `@%flow ld.shared.u32 ${text.register('r')}, [%index];`);
  text.emit('bar.sync 0;');
}
