import type { FaultCode } from '../../types.js';
import type { FlowNode, RegionFlow, Terminator } from '../analysis/index.js';
import type { KernelPlan } from '../plan/index.js';
import { MaskedCode, type MaskedSurroundings } from '../predication/index.js';
import type { FaultExit, NodeEmitter, RegionExit } from '../regions/index.js';
import type { VectorOperands } from '../vector/index.js';
import type { ChunkCounters } from './chunkCounters.js';
import type { ChunkDivergence } from './chunkDivergence.js';
import type { ChunkInstructions } from './chunkInstructions.js';
import type { ChunkPlan } from './chunkPlan.js';
import { findEdgeCondition, pushEdgeCondition, type EdgeCondition } from './edgeConditions.js';
import { SteadyCode } from './steadyCode.js';

/** What nodes of a chunk are written with. */
export interface ChunkParts {
  readonly plan: KernelPlan;
  readonly chunks: ChunkPlan;
  readonly flow: RegionFlow;
  readonly v: VectorOperands;
  readonly instructions: ChunkInstructions;
  readonly counters: ChunkCounters;
  readonly divergence: ChunkDivergence;
  readonly exit: RegionExit;
  readonly faults: FaultExit;
  /** Local with the chunk's first lane in its warp. */
  readonly firstLane: number;
  /** i64 local: what the block may still spend. */
  readonly fuel: number;
}

/** Writes nodes for a chunk: their instructions, and what leads on from them for all lanes or makes them part. */
export class ChunkNodes implements NodeEmitter, MaskedSurroundings {
  private readonly masked: MaskedCode;
  /** Of the running node, whose lanes it says whether they part. */
  private edge: EdgeCondition | undefined;

  constructor(private readonly parts: ChunkParts) {
    const { plan, chunks, flow, v } = parts;
    this.masked = new MaskedCode(v.f, v, plan.graph, flow, chunks.masked.kept, this);
  }

  // --- NodeEmitter ---

  emitBody({ index }: FlowNode): void {
    const { plan, chunks, flow } = this.parts;
    const zone = chunks.masked.zoneAt.get(index);
    const node = plan.graph.nodes[index];
    if (zone !== undefined) this.masked.emit(zone);
    else if (node !== undefined) this.emitNode(node, flow.positionOf.get(index) ?? 0, undefined);
  }

  emitCondition(register: number, negated: boolean): void {
    const { v, divergence, instructions } = this.parts;
    const { f } = v;
    const { edge } = this;
    if (v.shapeOfRegister(register).kind === 'uniform') f.get(v.scalar.localOf(register));
    else if (edge !== undefined) {
      const [taken, differs] = [v.temporary('taken', 'i32'), v.temporary('lanes differ', 'i32')];
      pushEdgeCondition(v, edge.term, differs);
      f.set(taken).get(differs);
      divergence.atEnd(() => {
        for (const instruction of edge.instructions) instructions.emit(instruction);
      });
      f.get(taken);
    } else {
      const taken = v.temporary('taken', 'i32');
      const locals = v.localsOf(register);
      this.foldMasks(locals, 'v128Or');
      f.simd('v128AnyTrue').set(taken);
      this.foldMasks(locals, 'v128And');
      f.simd('i32x4AllTrue').get(taken).op('i32Ne');
      divergence.atEnd();
      f.get(taken);
    }
    if (negated) f.op('i32Eqz');
  }

  emitIndex(register: number): void {
    const { v, divergence } = this.parts;
    const { f } = v;
    const shape = v.shapeOfRegister(register);
    if (shape.kind === 'uniform') {
      f.get(v.scalar.localOf(register));
      return;
    }
    const operand = { kind: 'register', register } as const;
    const first = v.temporary('index', 'i32');
    v.useLane(operand, 'u32', 0);
    f.set(first);
    for (let group = 0; group < v.groups; group++) {
      v.use(operand, 'u32', group);
      f.get(first).simd('i32x4Splat').simd('i32x4Eq');
      if (group > 0) f.simd('v128And');
    }
    f.simd('i32x4AllTrue').op('i32Eqz');
    divergence.atEnd();
    f.get(first);
  }

  emitLeave(node: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void {
    if (terminator.kind === 'trap') this.blameFirst();
    this.parts.exit.leave(node, terminator, (cost) => {
      this.emitBackEdge(node, cost);
    });
  }

  emitBackEdge(node: FlowNode, cost: number): void {
    const { v, fuel } = this.parts;
    const { f } = v;
    f.get(fuel)
      .i64(cost * v.width)
      .op('i64Sub')
      .tee(fuel)
      .i64(0)
      .op('i64LtS')
      .if();
    this.raise('fuelExhausted', lastOf(node));
    f.end();
  }

  emitNoTarget(at: number): void {
    this.raise('illegalInstruction', at);
  }

  // --- MaskedSurroundings ---

  emitNode(node: FlowNode, position: number, mask: readonly number[] | undefined): void {
    const { plan, counters, divergence, instructions, exit } = this.parts;
    counters.pass(position, mask);
    divergence.beginNode(node);
    this.edge = this.edgeConditionOf(node);
    instructions.beginNode(node.body);
    for (const index of node.body) {
      const instruction = plan.fn.instructions[index];
      if (instruction === undefined || this.edge?.instructions.includes(instruction) === true) continue;
      instructions.emit(instruction);
    }
    if (plan.exits.before.has(node.index)) exit.mark(node);
  }

  steadyLoop({ index }: FlowNode): SteadyCode | undefined {
    const { chunks, v, instructions } = this.parts;
    const loop = chunks.steady.get(index);
    return loop && new SteadyCode(v, instructions, loop);
  }

  spend(node: FlowNode, cost: number, mask: readonly number[] | undefined): void {
    const { v, faults, firstLane, fuel } = this.parts;
    const { f } = v;
    if (mask === undefined) {
      this.emitBackEdge(node, cost);
      return;
    }
    v.setMask(mask);
    const bits = v.activeBits();
    v.setMask(undefined);
    f.get(fuel).get(bits).op('i32Popcnt').op('i64ExtendI32U').i64(cost).op('i64Mul').op('i64Sub');
    f.tee(fuel).i64(0).op('i64LtS').if();
    f.get(firstLane).get(bits).op('i32Ctz').op('i32Add').set(faults.lane);
    faults.raise('fuelExhausted', lastOf(node));
    f.end();
  }

  private raise(code: FaultCode, at: number): void {
    this.blameFirst();
    this.parts.faults.raise(code, at);
  }

  /** A fault of all lanes is told of the first. */
  private blameFirst(): void {
    const { v, faults, firstLane } = this.parts;
    v.f.get(firstLane).set(faults.lane);
  }

  /** Of a node whose lanes part at its branch, if at all. */
  private edgeConditionOf(node: FlowNode): EdgeCondition | undefined {
    const { plan, chunks } = this.parts;
    const { masked, shapes } = chunks;
    if (plan.form.without?.has('edgeConditions') === true) return undefined;
    if (masked.isMasked(node) || masked.zoneAt.has(node.index)) return undefined;
    return findEdgeCondition(plan.fn, node, shapes, plan.liveness);
  }

  private foldMasks(locals: readonly number[], name: 'v128And' | 'v128Or'): void {
    const { f } = this.parts.v;
    locals.forEach((local, index) => {
      f.get(local);
      if (index > 0) f.simd(name);
    });
  }
}

/** The instruction that a node's fuel is charged to. */
function lastOf(node: FlowNode): number {
  return node.counted.at(-1) ?? node.body.at(-1) ?? 0;
}
