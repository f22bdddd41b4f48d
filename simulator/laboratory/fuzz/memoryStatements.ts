import { counterOperations, inputWords } from './fuzzCase.js';
import type { KernelText, RegisterLetter } from './kernelText.js';

/** Access widths: the type, the letter of its registers, bytes. */
const scalars = [
  ['u8', 'r', 1],
  ['s8', 'r', 1],
  ['s8', 'h', 1],
  ['u16', 'h', 2],
  ['s16', 'r', 2],
  ['b16', 'r', 2],
  ['u32', 'r', 4],
  ['b32', 'r', 4],
  ['s32', 'r', 4],
  ['f32', 'f', 4],
  ['u64', 'q', 8],
  ['b64', 'q', 8],
  ['f64', 'd', 8],
  ['s32', 'q', 4],
  ['u8', 'q', 1],
] as const;

const vectors = [
  ['v2.u32', 'r', 4, 2],
  ['v4.u32', 'r', 4, 4],
  ['v2.f32', 'f', 4, 2],
  ['v4.f32', 'f', 4, 4],
  ['v2.u64', 'q', 8, 2],
  ['v2.f64', 'd', 8, 2],
  ['v4.u16', 'h', 2, 4],
  ['v2.u8', 'r', 1, 2],
] as const;

function chosen<T extends readonly [string, string, ...unknown[]]>(
  all: readonly T[],
  withoutDoubles: boolean,
): readonly T[] {
  return withoutDoubles ? all.filter(([, letter]) => letter !== 'd') : all;
}

/** Memory of a thread's own: a base register, the state space, bytes. */
interface OwnMemory {
  readonly base: string;
  readonly space: string;
  readonly bytes: number;
}

/** Bytes of shared memory that belong to each thread, beyond its slot for exchange. */
export const ownSharedBytes = 32;
export const localBytes = 64;

function ownMemories(text: KernelText): OwnMemory {
  return text.random.pick([
    { base: '%out', space: '.global', bytes: 256 },
    { base: '%outGeneric', space: '', bytes: 256 },
    { base: '%own', space: '.shared', bytes: ownSharedBytes },
    { base: '%ownGeneric', space: '', bytes: ownSharedBytes },
    { base: '%local', space: '.local', bytes: localBytes },
    { base: '%localGeneric', space: '', bytes: localBytes },
  ]);
}

/** A place of `bytes` in a thread's own memory: a fixed offset, or one that a register tells. */
export function ownPlace(text: KernelText, memory: OwnMemory, bytes: number): string {
  const places = Math.floor(memory.bytes / bytes);
  if (text.random.chance(0.5)) {
    const offset = text.random.below(places) * bytes;
    return `[${memory.base}${offset === 0 ? '' : `+${offset}`}]`;
  }
  const mask = 2 ** Math.floor(Math.log2(places)) - 1;
  text.emit(`and.b32 %index, ${text.register('r')}, ${mask};`);
  if (memory.space === '.shared') {
    text.emit(`mad.lo.s32 %index, %index, ${bytes}, ${memory.base};`);
    return '[%index]';
  }
  text.emit(`mad.wide.u32 %address, %index, ${bytes}, ${memory.base};`);
  return '[%address]';
}

/** Distinct registers of one letter for a vector. */
export function distinct(text: KernelText, letter: RegisterLetter, count: number): string {
  const start = text.random.below(8);
  const total = { h: 6, r: 10, q: 6, f: 8, d: 5, p: 5 }[letter];
  return Array.from({ length: count }, (_, index) => `%${letter}${(start + index) % total}`).join(', ');
}

export function ownAccess(text: KernelText, guard: string, withoutDoubles: boolean): void {
  const { random } = text;
  const memory = ownMemories(text);
  const isLoad = random.chance(0.5);
  if (random.chance(0.3)) {
    const [type, letter, bytes, count] = random.pick(chosen(vectors, withoutDoubles));
    const place = ownPlace(text, memory, bytes * count);
    const vector = `{${distinct(text, letter, count)}}`;
    text.emit(
      isLoad
        ? `${guard}ld${memory.space}.${type} ${vector}, ${place};`
        : `${guard}st${memory.space}.${type} ${place}, ${vector};`,
    );
    return;
  }
  const [type, letter, bytes] = random.pick(chosen(scalars, withoutDoubles));
  const place = ownPlace(text, memory, bytes);
  text.emit(
    isLoad
      ? `${guard}ld${memory.space}.${type} ${text.register(letter)}, ${place};`
      : `${guard}st${memory.space}.${type} ${place}, ${text.register(letter)};`,
  );
}

/** Reads the input, the module's tables or a parameter. */
export function sharedRead(text: KernelText, guard: string, withoutDoubles: boolean): void {
  const { random } = text;
  const [type, letter, bytes] = random.pick(chosen(scalars, withoutDoubles));
  const target = text.register(letter);
  const source = text.register('r');
  switch (random.below(4)) {
    case 0: {
      const cache = random.pick(['', '.nc', '.ca', '.volatile']);
      const how = cache === '.volatile' ? 'ld.volatile.global' : `ld.global${cache}`;
      text.emit(`and.b32 %index, ${source}, ${(inputWords * 4) / bytes - 1};`);
      text.emit(
        `mad.wide.u32 %address, %index, ${bytes}, %in;`,
        `${guard}${how}.${type} ${target}, [%address];`,
      );
      break;
    }
    case 1:
      text.emit(`and.b32 %index, ${source}, ${64 / bytes - 1};`, `mov.u64 %address, fuzzConstants;`);
      text.emit(
        `mad.wide.u32 %address, %index, ${bytes}, %address;`,
        `${guard}ld.const.${type} ${target}, [%address];`,
      );
      break;
    case 2:
      text.emit(`and.b32 %index, ${source}, ${64 / bytes - 1};`, `mov.u64 %address, fuzzTable;`);
      text.emit(
        `mad.wide.u32 %address, %index, ${bytes}, %address;`,
        `${guard}ld.global.${type} ${target}, [%address];`,
      );
      break;
    default:
      text.emit(
        `${guard}ld.param.u32 ${text.register('r')}, [fuzz_n];`,
        `ld.param.f32 ${text.register('f')}, [fuzz_scale];`,
      );
  }
}

/** An update of a counter that all threads share; its result, if it has one, is never read. */
export function commonAtomic(text: KernelText, guard: string): void {
  const { random } = text;
  const index = random.below(counterOperations.length);
  const operation = counterOperations[index] ?? 'add.u32';
  const value = operation === 'inc.u32' ? '100' : text.register(operation.endsWith('64') ? 'q' : 'r');
  const dead = operation.endsWith('64') ? '%dead64' : '%dead';
  if (random.chance(0.3)) {
    const shared = index % 2 === 0 ? 'add.u32' : 'xor.b32';
    text.emit(`${guard}red.shared.${shared} [fuzzShared+${index % 2 === 0 ? 0 : 4}], ${text.register('r')};`);
    return;
  }
  const place = `[%counters+${index * 8}]`;
  text.emit(
    random.chance(0.5)
      ? `${guard}red.global.${operation} ${place}, ${value};`
      : `${guard}atom.global.${operation} ${dead}, ${place}, ${value};`,
  );
}

const ownAtomics = [
  ['add.u32', 'r', 4, 1],
  ['add.u64', 'q', 8, 1],
  ['add.f32', 'f', 4, 1],
  ['add.f64', 'd', 8, 1],
  ['min.s32', 'r', 4, 1],
  ['max.u64', 'q', 8, 1],
  ['max.s64', 'q', 8, 1],
  ['and.b32', 'r', 4, 1],
  ['or.b64', 'q', 8, 1],
  ['xor.b32', 'r', 4, 1],
  ['inc.u32', 'r', 4, 1],
  ['dec.u32', 'r', 4, 1],
  ['exch.b32', 'r', 4, 1],
  ['exch.b64', 'q', 8, 1],
  ['cas.b32', 'r', 4, 2],
  ['cas.b64', 'q', 8, 2],
] as const;

/** An atomic on a thread's own memory, whose old value it uses. */
export function ownAtomic(text: KernelText, guard: string, withoutDoubles: boolean): void {
  const { random } = text;
  const [operation, letter, bytes, operands] = random.pick(chosen(ownAtomics, withoutDoubles));
  const memory = random.pick([
    { base: '%out', space: '.global', bytes: 256 },
    { base: '%outGeneric', space: '', bytes: 256 },
    { base: '%own', space: '.shared', bytes: ownSharedBytes },
  ]);
  const place = ownPlace(text, memory, bytes);
  const values = Array.from({ length: operands }, () => text.register(letter)).join(', ');
  text.emit(`${guard}atom${memory.space}.${operation} ${text.register(letter)}, ${place}, ${values};`);
}
