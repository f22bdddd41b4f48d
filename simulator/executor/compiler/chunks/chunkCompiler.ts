import { FunctionBuilder } from '../../../wasm/index.js';
import { AccessCaches } from '../accesses/index.js';
import type { ContextLocals } from '../analysis/index.js';
import { AREA, REGION_RESULT } from '../area/index.js';
import {
  emitControlFlow,
  FaultExit,
  pushSpecialRegister,
  RegionExit,
  RegionRegisters,
  surroundingValues,
  type WrittenRegion,
} from '../regions/index.js';
import { OperandEmitter } from '../scalar/index.js';
import { VectorOperands } from '../vector/index.js';
import { ChunkAccesses } from './chunkAccesses.js';
import { ChunkContexts } from './chunkContexts.js';
import { ChunkCounters } from './chunkCounters.js';
import { ChunkDivergence, type PartedFunctions, type ProgressLocals } from './chunkDivergence.js';
import { emitBlocks, emitPhase, type ChunkBody } from './chunkFrames.js';
import { ChunkInstructions } from './chunkInstructions.js';
import { ChunkNodes } from './chunkNodes.js';
import type { ChunkPlan } from './chunkPlan.js';
import { ChunkThreads } from './chunkThreads.js';
import { PartingRegisters } from './partingRegisters.js';

/**
 * Compiles a region as RegionCompiler does, but chunk by chunk: neighbouring lanes run together as long as they take the
 * same way. Where they part, each goes on by itself in the resume function.
 *
 * `run(lo, hi)` of a kernel whose threads never meet; otherwise `phase(from, to, lanes)`, see `emitPhase`.
 */
export class ChunkCompiler {
  private readonly f: FunctionBuilder;
  private readonly registers: RegionRegisters;
  private readonly threads: ChunkThreads;
  private readonly locals: ProgressLocals;
  private readonly context: ContextLocals;
  private readonly v: VectorOperands;
  private readonly contexts: ChunkContexts;
  private readonly counters: ChunkCounters;
  private readonly caches: AccessCaches;
  private readonly faults: FaultExit;
  private readonly exit: RegionExit;
  private readonly divergence: ChunkDivergence;
  private readonly nodes: ChunkNodes;

  constructor(
    private readonly of: WrittenRegion,
    private readonly chunks: ChunkPlan,
    counterBase: number,
    parted: PartedFunctions,
  ) {
    const { plan, region, flow, shape } = of;
    this.f = new FunctionBuilder(shape === 'warp' ? ['i32', 'i32', 'i32'] : ['i32', 'i32'], ['i32']);
    const { f } = this;
    const i32 = (): number => f.local('i32');
    this.registers = RegionRegisters.of(plan, region, flow);
    this.threads = new ChunkThreads(f, plan.localLayout.bytes, chunks.groups * 4);
    const { first } = this.threads;
    const [fuel, status] = [f.local('i64'), i32()];
    this.faults = new FaultExit(f, i32(), i32());
    this.locals = { fuel, status, point: i32() };
    const narrow = i32();
    this.context = { narrow, wide: plan.context.hasWide ? i32() : narrow };
    this.v = this.operands();
    const partingRegisters = new PartingRegisters(this.v, plan, chunks.resume, first.lane);
    this.contexts = new ChunkContexts(this.v, plan, this.registers, this.context);
    this.exit = new RegionExit(f, of, status, this.faults, (point) => {
      this.contexts.spill(point);
    });
    const { width } = this.v;
    this.counters = new ChunkCounters(f, flow, counterBase, width, plan.library, chunks.masked.passSlots);
    this.caches = new AccessCaches(f, plan.groups, this.registers.instructions);
    this.divergence = new ChunkDivergence(
      f,
      this.threads,
      this.counters,
      this.locals,
      partingRegisters,
      chunks.resume,
      parted,
    );
    const accesses = new ChunkAccesses(plan, this.v, this.threads, this.caches, this.counters, this.faults);
    this.nodes = new ChunkNodes({
      plan,
      chunks,
      flow,
      v: this.v,
      instructions: new ChunkInstructions(this.v, chunks, accesses, this.divergence, plan.imported),
      counters: this.counters,
      divergence: this.divergence,
      exit: this.exit,
      faults: this.faults,
      firstLane: first.lane,
      fuel,
    });
  }

  compile(): FunctionBuilder {
    const { f } = this;
    this.caches.load();
    this.divergence.openFunction();
    this.faults.open();
    const body = this.body();
    if (this.of.shape === 'blocks') emitBlocks(body);
    else emitPhase(body, this.of.region, { context: this.context, contexts: this.contexts });
    this.faults.close(this.threads.firstThread);
    f.end();
    this.counters.endChunk();
    this.counters.endWarp();
    this.counters.flush();
    f.i32(REGION_RESULT.fault);
    return f;
  }

  /** The chunk's registers: scalars for all lanes, or of lanes each. */
  private operands(): VectorOperands {
    const { f, chunks, threads } = this;
    const { plan } = this.of;
    const { fuel } = this.locals;
    const { shapes, likely } = chunks.shapes;
    const steadyRegisters = new Set([...chunks.steady.values()].flatMap(({ scalars }) => scalars));
    const around = surroundingValues(f, plan, threads.first, fuel);
    const scalar = new OperandEmitter(
      f,
      plan.fn,
      plan.library,
      plan.exact,
      around,
      (register) =>
        this.registers.uses(register) &&
        (shapes[register]?.kind !== 'varying' || steadyRegisters.has(register)),
    );
    return new VectorOperands(chunks.groups, scalar, {
      shapes,
      likely,
      exact: plan.exact,
      firstLane: threads.first.lane,
      pushLaneSpecial: (name) => pushSpecialRegister(f, name, threads.one, { fuel }),
      pushSymbol: (name, offset, type) => {
        around.pushSymbol(name, offset, type);
      },
    });
  }

  private body(): ChunkBody {
    const { f, registers, threads, counters, divergence, faults, locals } = this;
    return {
      f,
      plan: this.of.plan,
      registers,
      threads,
      counters,
      divergence,
      faults,
      locals,
      width: this.v.width,
      emitChunk: (haveParted) => {
        this.emitChunk(haveParted);
      },
    };
  }

  private emitChunk(haveParted?: () => void): void {
    const { f, divergence, exit } = this;
    const { graph, flow } = this.chunks.masked;
    const done = f.block();
    divergence.open();
    exit.open();
    emitControlFlow(f, graph, flow, this.nodes);
    f.op('unreachable').end();
    if (this.of.shape === 'warp') this.keepStates();
    f.br(done).end();
    if (this.chunks.resume.points.length > 0) {
      divergence.emitParted(this.v.width);
      haveParted?.();
    }
    f.end();
    this.counters.endChunk();
  }

  /** The state that all lanes have come to, for the host. */
  private keepStates(): void {
    const { f, threads } = this;
    for (let group = 0; group < this.v.groups; group++) {
      f.get(threads.firstThread).get(threads.first.lane).op('i32Add').i32(2).op('i32Shl').area().op('i32Add');
      f.get(this.locals.status)
        .simd('i32x4Splat')
        .simdMemory('v128Store', AREA.states + 16 * group);
    }
  }
}
