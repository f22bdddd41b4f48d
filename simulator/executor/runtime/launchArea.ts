import { exponentialWords, specialFunctionWords } from '../arithmetic/index.js';
import { blockIndexOf, clusterDim } from '../clusters.js';
import type { CompiledKernel, ContextSlot } from '../compiler/index.js';
import {
  AREA,
  CACHE,
  CLASS_COUNTERS,
  COUNTER_BYTES,
  DRIVER,
  EXCHANGE,
  MAX_THREADS,
  PASSES,
  RECORD,
  WARP_SIZE,
} from '../compiler/index.js';
import { DeviceAddressSpace, type NodeMemory } from '../memory/index.js';
import { usesHeap } from '../deviceRuntime/index.js';
import { functionAddress, sharedBytesOf } from '../module/index.js';
import type { IrOperand } from '../../ptx/index.js';
import type { ExecutorLaunch, LaunchPlace } from '../types.js';
import type { BlockMemory, BlockState } from './blockState.js';
import type { BlockLaunch } from './blockLaunch.js';
import { ExecutorError } from './executorError.js';

/** A position that no run comes to. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** A table that compiled code reads. */
const exponentials = new Int32Array(exponentialWords.buffer);

/** The memory that areas lie in. */
export type AreaMemory = Pick<NodeMemory, 'buffer' | 'bytes' | 'allocate' | 'release'> & {
  space(id: number): DeviceAddressSpace | undefined;
};

/** Writes a launch into one of the executor's areas and reads back what it left there. */
export class LaunchArea {
  private words: Int32Array;
  private unsigned: Uint32Array;
  private floats: Float64Array;
  private extra = -1;
  /** Whether the tables are in memory: no launch writes there, and memory that grows keeps them. */
  private hasTables = false;
  private firstBlock = 0;
  private detail: string | undefined;

  /** @param base where the area begins in the node's memory. */
  constructor(
    private readonly memory: AreaMemory,
    readonly base = 0,
  ) {
    this.words = new Int32Array(memory.buffer);
    this.unsigned = new Uint32Array(memory.buffer);
    this.floats = new Float64Array(memory.buffer);
  }

  /** Sets everything up for one run. @throws ExecutorError; MemoryError when contexts do not fit. */
  begin(launch: ExecutorLaunch, compiled: CompiledKernel, fuel: number, firstBlock: number): void {
    this.firstBlock = firstBlock;
    const { shape, params, module } = launch;
    const threads = shape.block[0] * shape.block[1] * shape.block[2];
    const sharedBytes = sharedBytesOf(compiled.sharedLayout, shape.dynamicSharedBytes);
    check(launch, threads, sharedBytes);
    if (
      !(module.space instanceof DeviceAddressSpace) ||
      this.memory.space(module.space.id) !== module.space
    ) {
      throw new ExecutorError(
        'foreignSpace',
        `the address space of ${launch.kernel.name} is not one of this node`,
      );
    }
    const contextBytes = compiled.contextBytes * Math.ceil(threads / WARP_SIZE);
    const needed = contextBytes + compiled.localLayout.bytes * threads;
    if (needed > AREA.contextsEnd - AREA.contexts) this.extra = this.memory.allocate(needed, 64);
    if (usesHeap(launch.kernel)) module.space.openHeap();
    const table = module.space.segmentTable();
    this.refresh();
    const contexts = this.extra >= 0 ? this.extra : this.base + AREA.contexts;
    const locals = contexts + contextBytes;
    this.setWide(RECORD.fuelPerBlock, fuel);
    const cluster = clusterDim(shape);
    for (let axis = 0; axis < 3; axis++) {
      this.set(RECORD.nctaid + 4 * axis, shape.grid[axis] ?? 1);
      this.set(RECORD.ntid + 4 * axis, shape.block[axis] ?? 1);
      this.set(RECORD.clusterDim + 4 * axis, cluster[axis] ?? 1);
    }
    this.set(RECORD.isExplicitCluster, shape.cluster === undefined ? 0 : 1);
    this.set(RECORD.threads, threads);
    this.set(RECORD.sharedBytes, sharedBytes);
    this.set(RECORD.dynamicSharedBytes, shape.dynamicSharedBytes);
    this.set(RECORD.segmentTable, table.offset);
    this.set(RECORD.segmentCount, table.count);
    this.set(RECORD.contexts, contexts);
    this.set(RECORD.locals, locals);
    this.enterCluster(0, 1, this.base + AREA.shared, 0);
    this.set(RECORD.faultCode, 0);
    this.detail = undefined;
    this.setPlace(launch);
    this.set(RECORD.journalNext, AREA.journal);
    this.set(RECORD.journalOldNext, AREA.journalOld);
    this.setWide(RECORD.position, 0);
    this.setWide(RECORD.instructionsApart, 0);
    this.setWide(RECORD.instructionsIdle, 0);
    this.setWide(RECORD.stopAt, NEVER);
    this.set(RECORD.tracesLoads, 1);
    if (!this.hasTables) {
      this.words.set(exponentials, AREA.exponentials >> 2);
      this.words.set(specialFunctionWords, AREA.specialFunctions >> 2);
      this.hasTables = true;
    }
    this.memory.bytes.set(params, this.base + AREA.params);
    this.clear(AREA.counters, CLASS_COUNTERS + compiled.counters.length * COUNTER_BYTES);
    // Other kernels keep other things there.
    if (compiled.groups > 0) this.clear(AREA.passes, AREA.passes + compiled.counters.length * PASSES.bytes);
    this.clear(AREA.caches, AREA.caches + compiled.cacheCount * CACHE.bytes);
    compiled.symbols.forEach((name, index) =>
      this.setWide(
        AREA.symbols + index * 8,
        module.symbols.get(name) ?? functionAddress(module.ir, name) ?? 0,
      ),
    );
    // What a thread reads of its local memory before it wrote it is open, but must not depend on earlier launches.
    if (compiled.localLayout.bytes > 0)
      this.memory.bytes.fill(0, locals, locals + compiled.localLayout.bytes * threads);
  }

  /** Gives back what the run had to allocate. */
  end(): void {
    if (this.extra >= 0) this.memory.release(this.extra);
    this.extra = -1;
  }

  /** Which block runs next, with what fuel. @param spentBefore what it has spent of earlier fuel. */
  enterBlock(launch: BlockLaunch, block: number, fuel: number, spentBefore = 0): void {
    const index = blockIndexOf(launch, block);
    for (let axis = 0; axis < 3; axis++) this.set(RECORD.ctaid + 4 * axis, index[axis] ?? 0);
    this.setWide(RECORD.fuel, fuel);
    const { place } = launch;
    if (place === undefined && spentBefore === 0) return;
    this.setWide(RECORD.clockBase, startCycles(place) + spentBefore);
    if (place?.sms !== undefined) this.set(RECORD.sm, place.sms[block - this.firstBlock] ?? place.sm);
  }

  /** Where the running block and its cluster are. */
  enterCluster(rank: number, alive: number, shared: number, stride: number): void {
    this.set(RECORD.clusterRank, rank);
    this.set(RECORD.clusterAlive, alive);
    this.set(RECORD.clusterShared, shared);
    this.set(RECORD.ownShared, shared + rank * stride);
    this.set(RECORD.clusterStride, stride);
  }

  /** Zeroed memory for the blocks of a cluster, or what they held when they were put away. @returns its address */
  allocateShared(bytes: number, kept?: Uint8Array): number {
    const at = this.memory.allocate(bytes, 64);
    this.refresh();
    if (kept === undefined) this.memory.bytes.fill(0, at, at + bytes);
    else this.memory.bytes.set(kept, at);
    return at;
  }

  releaseShared(at: number): void {
    this.memory.release(at);
  }

  /** A copy of bytes of the node's memory. */
  copyShared(at: number, bytes: number): Uint8Array {
    return Uint8Array.from(this.memory.bytes.subarray(at, at + bytes));
  }

  /** Puts a block at its start. */
  beginBlock(launch: BlockLaunch, block: number): void {
    this.enterBlock(launch, block, this.wide(RECORD.fuelPerBlock));
    const shared = this.get(RECORD.sharedBytes);
    if (shared > 0) this.clear(AREA.shared, AREA.shared + shared);
  }

  /** State of a thread: 0 not started, k + 1 waiting at sync point k, negative ended with mark -1 - state. */
  state(thread: number): number {
    return this.words[((this.base + AREA.states) >> 2) + thread] ?? 0;
  }

  /** Value of a 32-bit operand of the instruction at which a thread waits. */
  operandValue(compiled: CompiledKernel, operand: IrOperand | undefined, thread: number): number {
    if (operand?.kind === 'integer') return operand.low;
    if (operand?.kind !== 'register' && operand?.kind !== 'negatedPredicate') return 0;
    const slot = compiled.slotOf.get(operand.register);
    if (slot === undefined) return 0;
    return this.words[this.wordOf(compiled, thread, slot)] ?? 0;
  }

  /** What the threads of a warp keep while they wait. */
  contexts(compiled: CompiledKernel, warp: number): Int32Array {
    const from = (this.get(RECORD.contexts) + warp * compiled.contextBytes) >> 2;
    return this.words.subarray(from, from + (compiled.contextBytes >> 2));
  }

  /** Gives a waiting thread the result of its barrier. */
  giveResult(compiled: CompiledKernel, thread: number, value: number): void {
    this.words[this.wordOf(compiled, thread, { offset: EXCHANGE.value, isWide: false })] = value;
  }

  private wordOf(compiled: CompiledKernel, thread: number, { offset, isWide }: ContextSlot): number {
    const warp = Math.floor(thread / WARP_SIZE);
    const lane = thread % WARP_SIZE;
    const at = this.get(RECORD.contexts) + warp * compiled.contextBytes + offset;
    return (at >> 2) + (isWide ? 2 : 1) * lane;
  }

  /** Takes the block that the driver has left. @param parted the warp whose lanes have parted, if that is why */
  takeBlock(block: BlockState, parted: number | undefined): void {
    const waiting = this.get(DRIVER.waiting);
    for (let warp = 0; warp < block.warps; warp++) {
      const alive = this.get(DRIVER.alive + 4 * warp);
      block.alive[warp] = alive;
      block.state[warp] = this.get(DRIVER.state + 4 * warp);
      if (((waiting >>> warp) & 1) === 1) block.waiting[warp] = alive;
    }
    if (parted !== undefined) block.parted[parted] = 1;
  }

  /** Leaves the driver a block of which no warp has parted and none waits. */
  giveBlock(block: BlockState): void {
    for (let warp = 0; warp < block.warps; warp++) {
      this.set(DRIVER.alive + 4 * warp, block.alive[warp] ?? 0);
      this.set(DRIVER.state + 4 * warp, block.state[warp] ?? 0);
    }
  }

  /** Writes bytes into the area. */
  put(at: number, bytes: Uint8Array): void {
    this.memory.bytes.set(bytes, this.base + at);
  }

  /** A copy of bytes of the area. */
  copy(from: number, to: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.memory.bytes.subarray(this.base + from, this.base + to));
  }

  /** Takes out what the running block holds in the area. @param into buffers to use again. */
  saveBlock(compiled: CompiledKernel, into?: BlockMemory): BlockMemory {
    const memory = into ?? this.blockMemory(compiled);
    const { bytes } = this.memory;
    for (const [part, at] of this.placesOf(memory)) part.set(bytes.subarray(at, at + part.length));
    return memory;
  }

  restoreBlock(memory: BlockMemory): void {
    for (const [part, at] of this.placesOf(memory)) this.memory.bytes.set(part, at);
  }

  /** Clears what a block may read before it wrote it. */
  clearBlock(compiled: CompiledKernel): void {
    const locals = this.get(RECORD.locals);
    const bytes = compiled.localLayout.bytes * this.get(RECORD.threads);
    if (bytes > 0) this.memory.bytes.fill(0, locals, locals + bytes);
  }

  private blockMemory(compiled: CompiledKernel): BlockMemory {
    const threads = this.get(RECORD.threads);
    return {
      contexts: new Uint8Array(compiled.contextBytes * Math.ceil(threads / WARP_SIZE)),
      locals: new Uint8Array(compiled.localLayout.bytes * threads),
      shared: new Uint8Array(compiled.meetsInCluster ? 0 : this.get(RECORD.sharedBytes)),
      states: new Uint8Array(threads * 4),
    };
  }

  private placesOf(memory: BlockMemory): (readonly [Uint8Array, number])[] {
    return [
      [memory.contexts, this.get(RECORD.contexts)],
      [memory.locals, this.get(RECORD.locals)],
      [memory.shared, this.base + AREA.shared],
      [memory.states, this.base + AREA.states],
    ];
  }

  private setPlace({ place, gridWorkspace = 0 }: ExecutorLaunch): void {
    this.set(RECORD.sm, place?.sm ?? 0);
    this.set(RECORD.smCount, place?.smCount ?? 1);
    this.setWide(RECORD.gridId, place?.gridId ?? 0);
    this.setWide(RECORD.clockBase, startCycles(place));
    this.setWide(RECORD.clockReads, 0);
    this.floats[(this.base + RECORD.cyclesPerNs) >> 3] = place?.cyclesPerNs ?? 1;
    this.set(RECORD.envreg1, Math.floor(gridWorkspace / 2 ** 32));
    this.set(RECORD.envreg2, gridWorkspace % 2 ** 32);
  }

  get(field: number): number {
    return this.words[(this.base + field) >> 2] ?? 0;
  }

  set(field: number, value: number): void {
    this.words[(this.base + field) >> 2] = value;
  }

  /** An unsigned 64-bit field, exact up to 2^53. */
  wide(field: number): number {
    const at = (this.base + field) >> 2;
    return (this.unsigned[at] ?? 0) + (this.unsigned[at + 1] ?? 0) * 2 ** 32;
  }

  /** A signed 64-bit field. */
  signed(field: number): number {
    const at = (this.base + field) >> 2;
    return (this.unsigned[at] ?? 0) + (this.words[at + 1] ?? 0) * 2 ** 32;
  }

  /** As `wide`, for what may exceed 2^53. */
  wideExact(field: number): bigint {
    const at = (this.base + field) >> 2;
    return (BigInt(this.unsigned[at + 1] ?? 0) << 32n) | BigInt(this.unsigned[at] ?? 0);
  }

  /** A fault that a function of the host found, told when the compiled code comes back from it. */
  leaveFault(code: number, address: number, detail: string): void {
    this.set(RECORD.faultCode, code);
    this.setWide(RECORD.faultAddress, address);
    this.detail = detail;
  }

  /** What the host has to say of the run's fault. */
  get faultDetail(): string | undefined {
    return this.detail;
  }

  setWide(field: number, value: number): void {
    const at = (this.base + field) >> 2;
    this.unsigned[at] = value % 2 ** 32;
    this.unsigned[at + 1] = Math.floor(value / 2 ** 32);
  }

  /** Clears whole words of the area. */
  private clear(from: number, to: number): void {
    this.words.fill(0, (this.base + from) >> 2, (this.base + to + 3) >> 2);
  }

  /** Growing the memory leaves old views short. */
  private refresh(): void {
    if (this.words.buffer === this.memory.buffer) return;
    this.words = new Int32Array(this.memory.buffer);
    this.unsigned = new Uint32Array(this.memory.buffer);
    this.floats = new Float64Array(this.memory.buffer);
  }
}

function startCycles(place: LaunchPlace | undefined): number {
  return place === undefined ? 0 : Math.floor(place.startNs * place.cyclesPerNs);
}

function check(launch: ExecutorLaunch, threads: number, sharedBytes: number): void {
  const { shape, params, kernel } = launch;
  const fail = (what: string): never => {
    throw new ExecutorError('invalidLaunch', `${kernel.name}: ${what}`);
  };
  for (const [name, extents] of [
    ['grid', shape.grid],
    ['block', shape.block],
  ] as const) {
    if (!extents.every((extent) => Number.isInteger(extent) && extent > 0 && extent < 2 ** 31)) {
      fail(`${name} must be three positive integers, got ${extents.join(', ')}`);
    }
  }
  if (threads > MAX_THREADS) fail(`block has ${threads} threads, at most ${MAX_THREADS}`);
  if (shape.grid[0] * shape.grid[1] * shape.grid[2] >= 2 ** 31) fail('grid has 2^31 blocks or more');
  const most = AREA.sharedEnd - AREA.shared;
  if (!(shape.dynamicSharedBytes >= 0) || sharedBytes > most) {
    fail(`dynamicSharedBytes gives ${sharedBytes} bytes of shared memory a block, at most ${most}`);
  }
  if (params.length !== kernel.parameterBytes) {
    fail(`params must have ${kernel.parameterBytes} bytes, got ${params.length}`);
  }
  if (params.length > AREA.paramsEnd - AREA.params)
    fail(`params has ${params.length} bytes, at most ${AREA.paramsEnd - AREA.params}`);
}
