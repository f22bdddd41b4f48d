import type { StatementContext } from './statementContext.js';

/** Words of a ring: one for each lane of a warp, in shared and in global memory. */
const ringWords = 32;
export const ringBytes = 4 * ringWords;

export const ringDeclarations = [
  '\t.reg .b32 %ring, %ringPlace, %laneId;',
  '\t.reg .b64 %ringGlobal, %ringAddress;',
];

/**
 * Registers of the rings of a thread's warp, and their first words.
 * @param sharedOffset of the first ring in dynamic shared memory
 * @param outputOffset of the first ring in the output, behind `%out` of the grid's first thread
 */
export function ringPrologue(
  sharedOffset: number,
  outputOffset: number,
  warps: number,
  threads: number,
): string[] {
  return [
    'mov.u32 %laneId, %laneid;',
    'shr.u32 %ringPlace, %thread, 5;',
    `mad.lo.u32 %ring, %ringPlace, ${ringBytes}, %slots;`,
    `add.u32 %ring, %ring, ${sharedOffset};`,
    `div.u32 %index, %global, ${threads};`,
    `mad.lo.u32 %ringPlace, %index, ${warps}, %ringPlace;`,
    'ld.param.u64 %ringGlobal, [fuzz_out];',
    'cvta.to.global.u64 %ringGlobal, %ringGlobal;',
    `mad.wide.u32 %ringGlobal, %ringPlace, ${ringBytes}, %ringGlobal;`,
    `add.u64 %ringGlobal, %ringGlobal, ${outputOffset};`,
    'mad.lo.u32 %index, %laneId, 4, %ring;',
    'st.volatile.shared.u32 [%index], %global;',
    'mad.wide.u32 %ringAddress, %laneId, 4, %ringGlobal;',
    'st.volatile.global.u32 [%ringAddress], %thread;',
  ];
}

/** Writes the shared ring to the global one at the end, where every lane's last words are kept. */
export const ringEpilogue = [
  'bar.warp.sync 0xffffffff;',
  'mad.lo.u32 %index, %laneId, 4, %ring;',
  'ld.volatile.shared.u32 %index, [%index];',
  'mad.wide.u32 %ringAddress, %laneId, 4, %ringGlobal;',
  'red.global.add.u32 [%ringAddress], %index;',
];

/** What a lane does to its warp's ring, where the others see it when they go in step. */
export function ringAccess(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const isShared = random.chance(0.7);
  const place = ringPlace(context, isShared);
  const space = isShared ? '.shared' : '.global';
  const register = text.register('r');
  const order = random.pick(['.volatile', '.volatile', '.relaxed.cta', isShared ? '' : '.volatile']);
  const choice = random.below(10);
  const guard = random.chance(0.2) ? context.guard() : '';
  if (choice < 4) text.emit(`${guard}ld${order}${space}.u32 ${register}, ${place};`);
  else if (choice < 8) text.emit(`${guard}st${order}${space}.u32 ${place}, ${register};`);
  else if (choice === 8) {
    const operation = random.pick(['add.u32', 'exch.b32', 'max.s32', 'xor.b32', 'inc.u32']);
    text.emit(`${guard}atom${space}.${operation} ${register}, ${place}, ${text.register('r')};`);
  } else if (random.chance(0.5))
    text.emit(
      `${guard}atom${space}.cas.b32 ${register}, ${place}, ${text.register('r')}, ${text.register('r')};`,
    );
  else
    text.emit(`${guard}red${space}.${random.pick(['add.u32', 'xor.b32', 'min.u32'])} ${place}, ${register};`);
}

/** A lane's own word, a neighbour's, one that all share, or one that a register tells. */
function ringPlace({ text }: StatementContext, isShared: boolean): string {
  const { random } = text;
  const step = random.between(1, ringWords - 1);
  const kind = random.below(6);
  if (kind === 0) return `[${isShared ? '%ring' : '%ringGlobal'}+${4 * step}]`;
  if (kind === 1) text.emit('mov.u32 %ringPlace, %laneId;');
  else if (kind < 4) text.emit(`add.u32 %ringPlace, %laneId, ${step};`);
  else if (kind === 4) text.emit(`xor.b32 %ringPlace, %laneId, ${step};`);
  else text.emit(`mov.u32 %ringPlace, ${text.register('r')};`);
  if (kind > 1) text.emit(`and.b32 %ringPlace, %ringPlace, ${ringWords - 1};`);
  if (isShared) {
    text.emit('mad.lo.u32 %ringPlace, %ringPlace, 4, %ring;');
    return '[%ringPlace]';
  }
  text.emit('mad.wide.u32 %ringAddress, %ringPlace, 4, %ringGlobal;');
  return '[%ringAddress]';
}
