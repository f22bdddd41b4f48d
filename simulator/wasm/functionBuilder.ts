import { CodeBuffer } from './codeBuffer.js';
import { op, typeByte, type AtomicName, type OpName, type WasmType } from './opcodes.js';
import {
  simd,
  type SimdLaneName,
  type SimdMemoryLaneName,
  type SimdMemoryName,
  type SimdName,
} from './simdOpcodes.js';

/** An open block, loop or if, to branch to. */
export type Label = number;

/** V8's limit of locals in a function. */
export const MAX_LOCALS = 50_000;

const EMPTY = 0x40;

/** Index of the global that tells where the area begins. */
const AREA_GLOBAL = 0;
const SIMD_PREFIX = 0xfd;

/** Log2 of the natural alignment is only a hint: 0 is always valid. */
const ALIGN_HINT = 0;

/** Writes one function's body: locals by index, blocks by label instead of relative depth. */
export class FunctionBuilder {
  private readonly code = new CodeBuffer();
  private readonly locals: WasmType[] = [];
  private depth = 0;
  /** Local that holds the base of the instance's area, once it is needed. */
  private areaLocal = -1;

  constructor(
    readonly params: readonly WasmType[],
    readonly results: readonly WasmType[],
  ) {}

  get localCount(): number {
    return this.params.length + this.locals.length;
  }

  /** @returns the new local's index. */
  local(type: WasmType): number {
    this.locals.push(type);
    return this.params.length + this.locals.length - 1;
  }

  op(name: OpName): this {
    const value = op[name];
    if (value > 0xff) {
      this.code.byte(value >> 8);
      this.code.unsigned(value & 0xff);
    } else {
      this.code.byte(value);
    }
    return this;
  }

  get(local: number): this {
    this.code.byteAndUnsigned(op.localGet, local);
    return this;
  }

  set(local: number): this {
    this.code.byteAndUnsigned(op.localSet, local);
    return this;
  }

  tee(local: number): this {
    this.code.byteAndUnsigned(op.localTee, local);
    return this;
  }

  /** Pushes the base of the area that the instance works in. */
  area(): this {
    if (this.areaLocal < 0) this.areaLocal = this.local('i32');
    return this.get(this.areaLocal);
  }

  i32(value: number): this {
    this.code.byte(op.i32Const);
    this.code.signed32(value);
    return this;
  }

  /** An i64 constant from a safe integer. */
  i64(value: number): this {
    return this.i64Halves(value | 0, Math.floor(value / 2 ** 32) | 0);
  }

  i64Halves(low: number, high: number): this {
    this.code.byte(op.i64Const);
    this.code.signed64(low, high);
    return this;
  }

  f32Bits(bits: number): this {
    this.code.byte(op.f32Const);
    this.code.uint32(bits);
    return this;
  }

  f64Halves(low: number, high: number): this {
    this.code.byte(op.f64Const);
    this.code.uint32(low);
    this.code.uint32(high);
    return this;
  }

  f32(value: number): this {
    return this.f32Bits(new Uint32Array(new Float32Array([value]).buffer)[0] ?? 0);
  }

  f64(value: number): this {
    const halves = new Uint32Array(new Float64Array([value]).buffer);
    return this.f64Halves(halves[0] ?? 0, halves[1] ?? 0);
  }

  /** A load or store at the address on the stack plus a constant. */
  memory(name: OpName, offset: number): this {
    this.op(name);
    this.code.unsigned(ALIGN_HINT);
    this.code.unsigned(offset);
    return this;
  }

  /** A vector operation that needs nothing but the stack. */
  simd(name: SimdName): this {
    return this.simdOpcode(simd.plain[name]);
  }

  /** Extracts or replaces a lane. */
  simdLane(name: SimdLaneName, lane: number): this {
    this.simdOpcode(simd.lane[name]);
    this.code.byte(lane);
    return this;
  }

  /** A vector load or store at the address on the stack plus a constant. */
  simdMemory(name: SimdMemoryName, offset: number): this {
    return this.simdAddress(simd.memory[name], offset);
  }

  /** Loads or stores one lane; the address is below the vector on the stack. */
  simdMemoryLane(name: SimdMemoryLaneName, offset: number, lane: number): this {
    this.simdAddress(simd.memoryLane[name], offset);
    this.code.byte(lane);
    return this;
  }

  /** A vector constant of four words. */
  v128(a: number, b: number, c: number, d: number): this {
    this.simdOpcode(simd.v128Const);
    for (const word of [a, b, c, d]) this.code.uint32(word >>> 0);
    return this;
  }

  /** Bytes of two vectors on the stack: 0 to 15 are of the lower one, 16 to 31 of the upper one. */
  shuffle(bytes: readonly number[]): this {
    if (bytes.length !== 16) throw new RangeError(`${bytes.length} bytes to shuffle, not 16`);
    this.simdOpcode(simd.i8x16Shuffle);
    for (const byte of bytes) this.code.byte(byte);
    return this;
  }

  /** The same of words: 0 to 3 are of the lower vector, 4 to 7 of the upper one. */
  shuffleWords(a: number, b: number, c: number, d: number): this {
    this.simdOpcode(simd.i8x16Shuffle);
    for (const word of [a, b, c, d]) for (let byte = 0; byte < 4; byte++) this.code.byte(word * 4 + byte);
    return this;
  }

  /** A read-modify-write that no other thread comes between; the address must be a multiple of the operand's size. */
  atomic(name: AtomicName, offset: number): this {
    this.op(name);
    this.code.unsigned(name.startsWith('i64') ? 3 : 2);
    this.code.unsigned(offset);
    return this;
  }

  /** Fills memory; destination, value and length are on the stack. */
  memoryFill(): this {
    this.code.byte(0xfc);
    this.code.unsigned(0x0b);
    this.code.byte(0);
    return this;
  }

  block(result?: WasmType): Label {
    return this.open(op.block, result);
  }

  loop(result?: WasmType): Label {
    return this.open(op.loop, result);
  }

  /** Takes the condition from the stack. */
  if(result?: WasmType): Label {
    return this.open(op.if, result);
  }

  else(): this {
    this.code.byte(op.else);
    return this;
  }

  end(): this {
    this.code.byte(op.end);
    this.depth -= 1;
    return this;
  }

  br(label: Label): this {
    this.code.byteAndUnsigned(op.br, this.depth - label);
    return this;
  }

  brIf(label: Label): this {
    this.code.byteAndUnsigned(op.brIf, this.depth - label);
    return this;
  }

  /** Takes the index from the stack; the last label is the default. */
  brTable(labels: readonly Label[]): this {
    this.code.byte(op.brTable);
    this.code.unsigned(labels.length - 1);
    for (const label of labels) this.code.unsigned(this.depth - label);
    return this;
  }

  call(functionIndex: number): this {
    this.code.byteAndUnsigned(op.call, functionIndex);
    return this;
  }

  /**
   * The body as a module's code section holds it. @throws RangeError when V8 would refuse it.
   * @param isThreaded whether the module imports where the area begins; otherwise it is at 0.
   */
  finish(isThreaded = false): Uint8Array {
    if (this.depth !== 0) throw new RangeError(`${this.depth} blocks are left open`);
    if (this.localCount > MAX_LOCALS)
      throw new RangeError(`${this.localCount} locals, at most ${MAX_LOCALS}`);
    const body = new CodeBuffer();
    const runs: { type: WasmType; count: number }[] = [];
    for (const type of this.locals) {
      const run = runs.at(-1);
      if (run?.type === type) run.count += 1;
      else runs.push({ type, count: 1 });
    }
    body.unsigned(runs.length);
    for (const run of runs) {
      body.unsigned(run.count);
      body.byte(typeByte[run.type]);
    }
    if (this.areaLocal >= 0) {
      if (isThreaded) {
        body.byte(op.globalGet);
        body.unsigned(AREA_GLOBAL);
      } else {
        body.byte(op.i32Const);
        body.signed32(0);
      }
      body.byte(op.localSet);
      body.unsigned(this.areaLocal);
    }
    body.append(this.code.bytes());
    body.byte(op.end);
    return body.bytes();
  }

  private simdOpcode(opcode: number): this {
    this.code.byteAndUnsigned(SIMD_PREFIX, opcode);
    return this;
  }

  private simdAddress(opcode: number, offset: number): this {
    this.simdOpcode(opcode);
    this.code.unsigned(ALIGN_HINT);
    this.code.unsigned(offset);
    return this;
  }

  private open(opcode: number, result: WasmType | undefined): Label {
    this.code.byte(opcode);
    this.code.byte(result === undefined ? EMPTY : typeByte[result]);
    this.depth += 1;
    return this.depth;
  }
}
