import { inputWords, wideCounterOffset, wideCounterOperations } from './fuzzCase.js';
import { ownPlace } from './memoryStatements.js';
import type { StatementContext } from './statementContext.js';

const orders = ['', '', '.relaxed.gpu', '.acq_rel.cta', '.release.sys', '.acquire.gpu'] as const;

/** Operation, letter of its registers, bytes, values that it takes, elements of a vector (which only global memory has). */
const atomics = [
  ['add.noftz.f16', 'h', 2, 1, 1],
  ['add.noftz.f16x2', 'r', 4, 1, 1],
  ['add.noftz.bf16', 'h', 2, 1, 1],
  ['add.noftz.bf16x2', 'r', 4, 1, 1],
  ['cas.b16', 'h', 2, 2, 1],
  ['add.s32', 'r', 4, 1, 1],
  ['min.u32', 'r', 4, 1, 1],
  ['max.s32', 'r', 4, 1, 1],
  ['min.s64', 'q', 8, 1, 1],
  ['max.u64', 'q', 8, 1, 1],
  ['and.b64', 'q', 8, 1, 1],
  ['xor.b64', 'q', 8, 1, 1],
  ['or.b32', 'r', 4, 1, 1],
  ['exch.b64', 'q', 8, 1, 1],
  ['cas.b64', 'q', 8, 2, 1],
  ['cas.b32', 'r', 4, 2, 1],
  ['add.f32', 'f', 4, 1, 1],
  ['add.f64', 'd', 8, 1, 1],
  ['add.v2.f32', 'f', 4, 1, 2],
  ['add.v4.f32', 'f', 4, 1, 4],
  ['add.noftz.v2.f16', 'h', 2, 1, 2],
  ['add.noftz.v4.f16', 'h', 2, 1, 4],
  ['add.noftz.v2.f16x2', 'r', 4, 1, 2],
  ['min.noftz.v4.f16', 'h', 2, 1, 4],
  ['max.noftz.v2.bf16x2', 'r', 4, 1, 2],
] as const;

const ownSpaces = [
  { base: '%out', space: '.global', bytes: 256 },
  { base: '%outGeneric', space: '', bytes: 256 },
  { base: '%own', space: '.shared', bytes: 32 },
  { base: '%ownGeneric', space: '', bytes: 32 },
] as const;

/** An atomic on a thread's own memory, whose old value is used or not. */
export function wideOwnAtomic(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const [operation, letter, bytes, values, elements] = random.pick(atomics);
  const memory = elements > 1 ? ownSpaces[0] : random.pick(ownSpaces);
  const place = ownPlace(text, memory, bytes * elements);
  const order = random.pick(orders);
  const start = random.below(4);
  const vector = (from: number): string =>
    elements === 1
      ? text.register(letter)
      : `{${Array.from({ length: elements }, (_, index) => `%${letter}${(from + index) % 5}`).join(', ')}}`;
  const given = Array.from({ length: values }, () => vector(random.below(5))).join(', ');
  const isReduction = random.chance(0.3) && !/^(?:cas|exch)/.test(operation);
  const name = `${isReduction ? 'red' : 'atom'}${order.replace('.acq_rel', isReduction ? '.relaxed' : '.acq_rel')}`;
  const written = isReduction ? name.replace('.acquire', '.relaxed') : name;
  const target = isReduction ? '' : `${vector(start)}, `;
  text.emit(`${context.guard()}${written}${memory.space}.${operation} ${target}${place}, ${given};`);
}

/** 128 bits at once: packed from two registers, exchanged with a thread's own memory, unpacked. */
export function wideExchange({ text }: StatementContext): void {
  const { random } = text;
  const q = () => text.register('q');
  const memory = random.pick([ownSpaces[0], ownSpaces[2]]);
  const place = ownPlace(text, memory, 16);
  text.emit(`mov.b128 %wide0, {${q()}, ${q()}};`);
  if (random.chance(0.5)) text.emit(`atom${memory.space}.exch.b128 %wide1, ${place}, %wide0;`);
  else {
    text.emit(`mov.b128 %wide2, {${q()}, ${q()}};`);
    text.emit(`atom${memory.space}.cas.b128 %wide1, ${place}, %wide2, %wide0;`);
  }
  text.emit(`mov.b128 {%q${random.below(3)}, %q${3 + random.below(3)}}, %wide1;`);
}

/** What a counter takes, and a register for its old value. Floats get values whose sums are the same in every order. */
function exactValue({ text }: StatementContext, operation: string): readonly [string, string] {
  if (operation === 'dec.u32') return ['100', '%dead'];
  if (operation === 'add.f32') {
    text.emit(`and.b32 %index, ${text.register('r')}, 7;`, 'cvt.rn.f32.u32 %single, %index;');
    return ['%single', '%deadSingle'];
  }
  if (operation === 'add.f64') {
    text.emit(`and.b32 %index, ${text.register('r')}, 7;`, 'cvt.rn.f64.u32 %double, %index;');
    return ['%double', '%deadDouble'];
  }
  if (operation === 'add.noftz.f16x2') {
    text.emit(`selp.b32 %index, 0x3c003c00, 0x3c00, ${text.register('p')};`);
    return ['%index', '%dead'];
  }
  if (operation === 'add.noftz.bf16') {
    text.emit(`selp.b16 %half, 0x3f80, 0, ${text.register('p')};`);
    return ['%half', '%deadHalf'];
  }
  return operation.endsWith('64') ? [text.register('q'), '%dead64'] : [text.register('r'), '%dead'];
}

/** An update of a counter of all threads. */
export function wideCommonAtomic(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const index = random.below(wideCounterOperations.length);
  const operation = wideCounterOperations[index] ?? 'min.u32';
  const [given, dead] = exactValue(context, operation);
  if (random.chance(0.25)) {
    const [shared, offset] = random.pick([
      ['max.u32', 8],
      ['or.b32', 12],
    ]);
    text.emit(`${context.guard()}red.shared.${shared} [fuzzShared+${offset}], ${text.register('r')};`);
    return;
  }
  const place = `[%counters+${wideCounterOffset + index * 8}]`;
  text.emit(
    random.chance(0.5)
      ? `${context.guard()}red.global.${operation} ${place}, ${given};`
      : `${context.guard()}atom.relaxed.gpu.global.${operation} ${dead}, ${place}, ${given};`,
  );
}

/** Loads and stores that are ordered, hinted or volatile, of a thread's own memory. */
export function orderedAccess(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const [type, letter, bytes] = random.pick([
    ['u32', 'r', 4],
    ['b64', 'q', 8],
    ['f32', 'f', 4],
    ['b16', 'h', 2],
    ['f64', 'd', 8],
    ['s8', 'r', 1],
  ] as const);
  const memory = random.pick(ownSpaces);
  const place = ownPlace(text, memory, bytes);
  const register = text.register(letter);
  const isGlobal = memory.space === '.global';
  if (random.chance(0.5)) {
    const how = random.pick(['.volatile', '.relaxed.gpu', '.acquire.cta', '.weak', '.acquire.sys']);
    const cached =
      isGlobal && random.chance(0.3) ? `.global${random.pick(['.cs', '.lu', '.cv', '.cg'])}` : '';
    text.emit(
      `${context.guard()}ld${cached === '' ? how + memory.space : cached}.${type} ${register}, ${place};`,
    );
    return;
  }
  const how = random.pick(['.volatile', '.relaxed.gpu', '.release.cta', '.weak', '.release.sys']);
  const cached = isGlobal && random.chance(0.3) ? `.global${random.pick(['.cs', '.wt', '.cg', '.wb'])}` : '';
  text.emit(
    `${context.guard()}st${cached === '' ? how + memory.space : cached}.${type} ${place}, ${register};`,
  );
}

/** An asynchronous copy of input to the thread's own shared memory, waited for and read. */
export function asyncCopy(context: StatementContext): void {
  const { text } = context;
  const { random } = text;
  const bytes = random.pick([4, 8, 16]);
  const kind = bytes === 16 && random.chance(0.5) ? 'cg' : 'ca';
  const offset = random.below(32 / bytes) * bytes;
  text.emit(`and.b32 %index, ${text.register('r')}, ${(inputWords * 4) / bytes - 1};`);
  text.emit(`mad.wide.u32 %address, %index, ${bytes}, %in;`);
  let rest = '';
  if (random.chance(0.4)) {
    text.emit(`and.b32 %index, ${text.register('r')}, ${bytes - 1};`);
    rest = ', %index';
  }
  text.emit(
    `${context.guard()}cp.async.${kind}.shared.global [%own+${offset}], [%address], ${bytes}${rest};`,
  );
  text.emit(...random.pick([['cp.async.commit_group;', 'cp.async.wait_group 0;'], ['cp.async.wait_all;']]));
  text.emit(`ld.shared.u32 ${text.register('r')}, [%own+${offset}];`);
}

/** What orders, hints or asks about memory without changing it. */
export function memoryQuestion({ text }: StatementContext): void {
  const { random } = text;
  text.emit(
    ...random.pick([
      ['membar.cta;'],
      ['membar.gl;'],
      ['membar.sys;'],
      ['fence.acq_rel.gpu;'],
      ['fence.sc.cta;'],
      ['nanosleep.u32 20;'],
      ['prefetch.global.L2 [%out];'],
      [`isspacep.shared ${text.register('p')}, %ownGeneric;`],
      [`isspacep.global ${text.register('p')}, %outGeneric;`],
      [`isspacep.local ${text.register('p')}, %localGeneric;`],
      [
        'mov.u64 %address, fuzzConstants;',
        'cvta.const.u64 %address, %address;',
        `ld.u32 ${text.register('r')}, [%address+${random.below(16) * 4}];`,
      ],
      [`ld.global.v2.b16 {%h0, %h${1 + random.below(5)}}, [%in+${random.below(64) * 4}];`],
      [
        `ld.global.nc.v4.b32 {%r0, %r${1 + random.below(4)}, %r5, %r${6 + random.below(4)}}, [%in+${random.below(64) * 16}];`,
      ],
      [
        `mov.b64 ${text.register('q')}, {%h0, %h1, %h2, %h3};`,
        `mov.b64 {%h2, %h3, %h4, %h5}, ${text.register('q')};`,
      ],
    ]),
  );
}
