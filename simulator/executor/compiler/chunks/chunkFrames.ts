import type { FunctionBuilder } from '../../../wasm/index.js';
import { AREA, DRIVER, RECORD, WARP_SIZE, REGION_RESULT } from '../area/index.js';
import type { KernelPlan } from '../plan/index.js';
import { LaneSummary, type FaultExit, type RegionRegisters } from '../regions/index.js';
import type { ContextLocals } from '../analysis/index.js';
import type { Label } from '../../../wasm/index.js';
import type { ChunkContexts } from './chunkContexts.js';
import type { ChunkCounters } from './chunkCounters.js';
import type { ChunkDivergence, ProgressLocals } from './chunkDivergence.js';
import type { ChunkThreads } from './chunkThreads.js';

/** What the loops around chunks need of them. */
export interface ChunkBody {
  readonly f: FunctionBuilder;
  readonly plan: KernelPlan;
  readonly registers: RegionRegisters;
  readonly threads: ChunkThreads;
  readonly counters: ChunkCounters;
  readonly divergence: ChunkDivergence;
  readonly faults: FaultExit;
  readonly locals: ProgressLocals;
  /** Lanes of a chunk. */
  readonly width: number;
  /** Runs a chunk; leaves in `status` what its lanes have come to. @param haveParted at the end of code for lanes that parted */
  emitChunk(haveParted?: () => void): void;
}

/** Sets registers that are read before they are written to 0. */
function clearRegisters({ registers, divergence }: ChunkBody): void {
  for (const register of registers.loaded()) divergence.registers.clear(register);
}

/** `run(lo, hi)`: all chunks of all warps of blocks. */
export function emitBlocks(body: ChunkBody): void {
  const { f, plan, threads, counters, width } = body;
  const [block, end] = [0, 1];
  const { lane } = threads.first;
  const rest = f.local('i32');
  threads.load();
  const again = f.loop();
  f.get(block).get(end).op('i32LtU').if();
  placeBlock(f, block, rest);
  f.area().memory('i64Load', RECORD.fuelPerBlock).set(body.locals.fuel);
  if (plan.usesShared)
    f.area().i32(AREA.shared).op('i32Add').i32(0).area().memory('i32Load', RECORD.sharedBytes).memoryFill();
  threads.startBlock();
  const warps = f.loop();
  const done = f.block();
  const chunks = f.loop();
  f.get(lane).i32(width).op('i32Add').get(threads.lanes).op('i32GtU').if();
  // What is left behind the last whole chunk runs lane by lane.
  f.get(lane).get(threads.lanes).op('i32GeU').brIf(done);
  f.i32(-1).get(lane).op('i32Shl');
  pushLanesOfWarp(f, threads);
  f.op('i32And').set(rest);
  body.divergence.callLanes(rest);
  f.br(done).end();
  clearRegisters(body);
  body.emitChunk();
  threads.advance();
  f.br(chunks).end().end();
  counters.endWarp();
  threads.pushNextWarp();
  f.brIf(warps).end();
  f.get(block).i32(1).op('i32Add').set(block).br(again).end().end();
  counters.flush();
  f.i32(0).op('return');
}

function placeBlock(f: FunctionBuilder, block: number, rest: number): void {
  f.get(block).set(rest);
  for (const axis of [0, 1]) {
    const extent = RECORD.nctaid + 4 * axis;
    f.area()
      .get(rest)
      .area()
      .memory('i32Load', extent)
      .op('i32RemU')
      .memory('i32Store', RECORD.ctaid + 4 * axis);
    f.get(rest).area().memory('i32Load', extent).op('i32DivU').set(rest);
  }
  f.area()
    .get(rest)
    .memory('i32Store', RECORD.ctaid + 8);
}

/** Pushes one bit for each thread that the warp has. */
function pushLanesOfWarp(f: FunctionBuilder, threads: ChunkThreads): void {
  f.i32(-1).i32(WARP_SIZE).get(threads.lanes).op('i32Sub').op('i32ShrU');
}

/** Locals of a phase. */
export interface PhaseLocals {
  /** Of the chunk's first lane. */
  readonly context: ContextLocals;
  readonly contexts: ChunkContexts;
}

/**
 * `phase(from, to, lanes)`: a region for the lanes, as bits, of each of some warps of a block, from one wait to the next.
 * Ends behind the first warp that faults, parts or comes to another state than the first one, which is in the area.
 * @returns the state of the last warp that ran
 */
export function emitPhase(body: ChunkBody, region: number, { context, contexts }: PhaseLocals): void {
  const { f, plan, threads, counters, width } = body;
  const [from, to, asked] = [0, 1, 2];
  const { warp, lane } = threads.first;
  const [mask, bits, parted, first] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const summary = new LaneSummary(f);
  const full = width === WARP_SIZE ? -1 : (1 << width) - 1;
  const pushFlags = (): FunctionBuilder => f.get(warp).i32(2).op('i32Shl').area().op('i32Add');
  threads.load();
  f.area().memory('i64Load', RECORD.fuel).set(body.locals.fuel);
  f.get(from).set(warp);
  threads.startAtWarp();
  const done = f.block();
  const warps = f.loop();
  placeContexts(f, plan, warp, context);
  f.get(asked);
  pushLanesOfWarp(f, threads);
  f.op('i32And').set(mask);
  pushFlags().memory('i32Load', DRIVER.parted).set(parted);
  // A block's threads start together.
  if (region === 0) f.get(parted).get(mask).i32(-1).op('i32Xor').op('i32And').set(parted);
  emitExchange(body, context, mask);
  summary.start();
  const chunks = f.loop();
  const next = f.block();
  f.get(mask).i32(full).get(lane).op('i32Shl').op('i32And').tee(bits).op('i32Eqz').brIf(next);
  const apart: Label = f.block();
  f.get(bits).i32(full).get(lane).op('i32Shl').op('i32Ne').brIf(apart);
  if (region === 0) clearRegisters(body);
  else {
    contexts.load();
    // Lanes that once parted may each have brought a value of its own.
    f.get(parted).get(bits).op('i32And').if();
    contexts.pushIsRegular();
    f.op('i32Eqz').brIf(apart);
    f.get(parted).get(bits).op('i32Xor').get(parted).op('i32And').set(parted).end();
  }
  body.emitChunk(() => f.get(parted).get(bits).op('i32Or').set(parted));
  summary.add(body.locals.status);
  f.br(next).end();
  f.get(parted).get(bits).op('i32Or').set(parted);
  body.divergence.callLanes(bits);
  summary.add(body.locals.status);
  f.end();
  threads.advance();
  f.get(context.narrow)
    .i32(4 * width)
    .op('i32Add')
    .set(context.narrow);
  if (context.wide !== context.narrow)
    f.get(context.wide)
      .i32(8 * width)
      .op('i32Add')
      .set(context.wide);
  f.get(lane).get(threads.lanes).op('i32LtU').brIf(chunks).end();
  counters.endWarp();
  pushFlags().get(parted).memory('i32Store', DRIVER.parted);
  summary.push();
  f.set(body.locals.status);
  f.area().get(warp).memory('i32Store', DRIVER.phaseWarp);
  f.get(warp).get(from).op('i32Eq').if();
  f.get(body.locals.status).set(first).end();
  f.get(body.locals.status).get(first).op('i32Ne').brIf(done);
  f.get(body.locals.status).i32(REGION_RESULT.mixed).op('i32Eq').brIf(done);
  threads.pushNextWarp();
  f.op('i32Eqz').brIf(done);
  f.get(warp).get(to).op('i32LtU').brIf(warps).end().end();
  f.area().get(first).memory('i32Store', DRIVER.phaseState);
  f.area().get(body.locals.fuel).memory('i64Store', RECORD.fuel);
  counters.flush();
  f.get(body.locals.status).op('return');
}

function placeContexts(
  f: FunctionBuilder,
  plan: KernelPlan,
  warp: number,
  { narrow, wide }: ContextLocals,
): void {
  f.area().memory('i32Load', RECORD.contexts).get(warp).i32(plan.context.warpBytes).op('i32Mul').op('i32Add');
  f.set(narrow);
  if (wide !== narrow) f.get(narrow).set(wide);
}

function emitExchange(body: ChunkBody, context: ContextLocals, mask: number): void {
  const { f, threads, faults } = body;
  body.registers.emitExchange(
    f,
    context.narrow,
    mask,
    (failing, code, at) => {
      f.get(failing).set(faults.lane);
      faults.raise(code, at);
    },
    {
      pushThread: (caller) => {
        f.get(threads.firstThread).get(caller).op('i32Add');
      },
      leaveFaulted: (caller, at) => {
        f.get(caller).set(faults.lane);
        faults.leave(at);
      },
    },
  );
}
