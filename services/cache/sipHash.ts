/** Bytes of the key. */
export const HASH_KEY_BYTES = 16;

/** Rounds for each word of eight bytes, and at the end. */
export interface SipRounds {
  readonly compression: number;
  readonly finalization: number;
}

/** What hash tables of other languages take: SipHash-1-3. */
const TABLE_ROUNDS: SipRounds = { compression: 1, finalization: 3 };

/** Where a message, or a piece of it, is laid; a longer one goes piece by piece through the same memory. */
const PIECE_BYTES = 64 * 1024;

/** Below it the copy into the module's memory is cheaper by hand than by a call. */
const SMALL_BYTES = 32;

interface Word {
  value: bigint;
}

interface SipExports {
  readonly memory: WebAssembly.Memory;
  /** Begins a message. */
  readonly start: () => void;
  /** Takes so many bytes, a multiple of eight, from the memory's beginning. */
  readonly absorb: (bytes: number) => void;
  /** Takes the last bytes, fewer than eight, that lie at `at`. @returns the two halves of the hash, folded */
  readonly finish: (at: number, total: number) => number;
  readonly k0: Word;
  readonly k1: Word;
  readonly v0: Word;
}

/**
 * SipHash (Aumasson and Bernstein, 2012). In WebAssembly for its sums and rotations of 64 bits, which JavaScript would
 * have to make of halves, several times as slow.
 */
export class SipHash {
  private readonly module: SipExports;
  private readonly target: Uint8Array;

  /** @throws RangeError for a key of another length */
  constructor(key: Uint8Array, rounds = TABLE_ROUNDS) {
    if (key.length !== HASH_KEY_BYTES) {
      throw new RangeError(`a key of ${HASH_KEY_BYTES} bytes is needed, ${key.length} came`);
    }
    const instance = new WebAssembly.Instance(new WebAssembly.Module(sipModule(rounds)));
    this.module = instance.exports as unknown as SipExports;
    this.target = new Uint8Array(this.module.memory.buffer);
    const view = new DataView(key.buffer, key.byteOffset, key.length);
    this.module.k0.value = view.getBigInt64(0, true);
    this.module.k1.value = view.getBigInt64(8, true);
  }

  hash(bytes: Uint8Array): number {
    const { length } = bytes;
    const { module, target } = this;
    module.start();
    let from = 0;
    for (; length - from > PIECE_BYTES; from += PIECE_BYTES) {
      target.set(bytes.subarray(from, from + PIECE_BYTES));
      module.absorb(PIECE_BYTES);
    }
    const rest = length - from;
    if (rest <= SMALL_BYTES) for (let at = 0; at < rest; at++) target[at] = bytes[from + at];
    else target.set(from === 0 ? bytes : bytes.subarray(from));
    const whole = rest & ~7;
    if (whole > 0) module.absorb(whole);
    return module.finish(whole, length);
  }

  /** All 64 bits, as the reference gives them. */
  hash64(bytes: Uint8Array): bigint {
    this.hash(bytes);
    return BigInt.asUintN(64, this.module.v0.value);
  }
}

/* The module, instruction by instruction: WebAssembly core specification 1.0, chapter 5. */

const I32 = 0x7f;
const I64 = 0x7e;
const globalGet = (index: number) => [0x23, index];
const globalSet = (index: number) => [0x24, index];
const localGet = (index: number) => [0x20, index];
const localSet = (index: number) => [0x21, index];
const I64_ADD = 0x7c;
const I64_XOR = 0x85;
const I64_OR = 0x84;
const I64_SHL = 0x86;
const I64_ROTL = 0x89;
/** Aligned to eight bytes. */
const I64_LOAD = [0x29, 3, 0];
const EXTEND_U = 0xad;
const WRAP = 0xa7;
const END = 0x0b;
const i32Const = (value: number) => [0x41, ...signed(BigInt(value))];
const i64Const = (value: bigint) => [0x42, ...signed(value)];

/** Globals: the key, the state. */
const [K0, K1, V0, V1, V2, V3] = [0, 1, 2, 3, 4, 5] as const;

function sipModule({ compression, finalization }: SipRounds): Uint8Array<ArrayBuffer> {
  const types = [func([], []), func([I32], []), func([I32, I32], [I32])];
  const global = [I64, 1, ...i64Const(0n), END];
  const exported: readonly [name: string, kind: number, index: number][] = [
    ['memory', 2, 0],
    ['start', 0, 0],
    ['absorb', 0, 1],
    ['finish', 0, 2],
    ['k0', 3, K0],
    ['k1', 3, K1],
    ['v0', 3, V0],
  ];
  const bytes = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(3, vector([[0], [1], [2]])),
    // Two pages: a load of the last word reads beyond the piece.
    ...section(5, vector([[0, 2]])),
    ...section(6, vector([global, global, global, global, global, global])),
    ...section(7, vector(exported.map(([name, kind, index]) => [...text(name), kind, index]))),
    ...section(10, vector([startCode(), absorbCode(compression), finishCode(compression, finalization)])),
  ];
  return Uint8Array.from(bytes);
}

/** "somepseudorandomlygeneratedbytes", in four words. */
const INITIAL = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n] as const;

function startCode(): number[] {
  const code = INITIAL.flatMap((word, at) => [
    ...globalGet(at % 2 === 0 ? K0 : K1),
    ...i64Const(word),
    I64_XOR,
    ...globalSet(V0 + at),
  ]);
  return body([], code);
}

/** Locals of 64 bits: the state from `first` on, the word behind it. */
function absorbCode(compression: number): number[] {
  const [count, at, first, word] = [0, 1, 2, 6];
  const code = [
    ...loadState(first),
    ...[0x03, 0x40],
    ...[...localGet(at), ...I64_LOAD, ...localSet(word)],
    ...takeWord(first, word, compression),
    ...[...localGet(at), ...i32Const(8), 0x6a, 0x22, at],
    ...[...localGet(count), 0x49, 0x0d, 0, END],
    ...storeState(first),
  ];
  return body(
    [
      [1, I32],
      [5, I64],
    ],
    code,
  );
}

function finishCode(compression: number, finalization: number): number[] {
  const [at, total, first, word] = [0, 1, 2, 6];
  const code = [
    ...loadState(first),
    // The last bytes, and the length above them. What the message before left behind them is shifted out.
    ...[...localGet(total), ...i32Const(7), 0x71, 0x04, I64],
    ...[...localGet(at), ...I64_LOAD],
    ...[...unusedBits(total), I64_SHL, ...unusedBits(total), 0x88],
    ...[0x05, ...i64Const(0n), END],
    ...[...localGet(total), EXTEND_U, ...i64Const(56n), I64_SHL, I64_OR, ...localSet(word)],
    ...takeWord(first, word, compression),
    ...[...localGet(first + 2), ...i64Const(0xffn), I64_XOR, ...localSet(first + 2)],
    ...Array.from({ length: finalization }, () => round(first)).flat(),
    ...[...localGet(first), ...localGet(first + 1), I64_XOR],
    ...[...localGet(first + 2), I64_XOR, ...localGet(first + 3), I64_XOR, ...localSet(word)],
    ...[...localGet(word), ...globalSet(V0)],
    ...[...localGet(word), WRAP, ...localGet(word), ...i64Const(32n), 0x88, WRAP, 0x73],
  ];
  return body([[5, I64]], code);
}

/** 64 less eight for each byte of the last word: 1 to 7 of them. */
function unusedBits(total: number): number[] {
  return [...i32Const(64), ...localGet(total), ...i32Const(7), 0x71, ...i32Const(3), 0x74, 0x6b, EXTEND_U];
}

function takeWord(first: number, word: number, rounds: number): number[] {
  const into = (local: number) => [...localGet(local), ...localGet(word), I64_XOR, ...localSet(local)];
  return [...into(first + 3), ...Array.from({ length: rounds }, () => round(first)).flat(), ...into(first)];
}

function round(first: number): number[] {
  const [a, b, c, d] = [first, first + 1, first + 2, first + 3];
  const add = (to: number, from: number) => [...localGet(to), ...localGet(from), I64_ADD, ...localSet(to)];
  const rotate = (local: number, bits: bigint) => [
    ...localGet(local),
    ...i64Const(bits),
    I64_ROTL,
    ...localSet(local),
  ];
  const xor = (to: number, from: number) => [...localGet(to), ...localGet(from), I64_XOR, ...localSet(to)];
  return [
    ...[...add(a, b), ...rotate(b, 13n), ...xor(b, a), ...rotate(a, 32n)],
    ...[...add(c, d), ...rotate(d, 16n), ...xor(d, c)],
    ...[...add(a, d), ...rotate(d, 21n), ...xor(d, a)],
    ...[...add(c, b), ...rotate(b, 17n), ...xor(b, c), ...rotate(c, 32n)],
  ];
}

function loadState(first: number): number[] {
  return [V0, V1, V2, V3].flatMap((global, at) => [...globalGet(global), ...localSet(first + at)]);
}

function storeState(first: number): number[] {
  return [V0, V1, V2, V3].flatMap((global, at) => [...localGet(first + at), ...globalSet(global)]);
}

function func(parameters: readonly number[], results: readonly number[]): number[] {
  return [0x60, parameters.length, ...parameters, results.length, ...results];
}

function body(locals: readonly (readonly number[])[], code: readonly number[]): number[] {
  const content = [...vector(locals), ...code, END];
  return [...unsigned(content.length), ...content];
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function vector(parts: readonly (readonly number[])[]): number[] {
  return [...unsigned(parts.length), ...parts.flat()];
}

function text(ascii: string): number[] {
  return [ascii.length, ...Array.from(ascii, (letter) => letter.charCodeAt(0))];
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: bigint): number[] {
  const low = Number(value & 127n);
  const rest = value >> 7n;
  const isLast = (rest === 0n && low < 64) || (rest === -1n && low >= 64);
  return isLast ? [low] : [low | 128, ...signed(rest)];
}
