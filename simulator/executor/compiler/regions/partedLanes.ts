import type { IrFunction } from '../../../ptx/index.js';
import { readRegisters, typeBits, writtenRegisters } from '../../../ptx/index.js';
import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import { emitTerminator, type NodeEmitter } from './controlFlowEmitter.js';
import { AREA, WARP_SIZE } from '../area/index.js';
import {
  successorsOf,
  type FlowGraph,
  type FlowNode,
  RegisterSet,
  type NodeLiveness,
  type RegionFlow,
} from '../analysis/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import { wasmTypeOf } from '../instructions/index.js';

/** Where lanes may leave their chunk: before an instruction of a node's body, or before its end. */
export interface ResumePoint {
  readonly node: number;
  /** Place in the node's body; its length for the end. */
  readonly at: number;
}

/** How lanes that have left their chunk go on, one after another. */
export interface Resume {
  readonly points: readonly ResumePoint[];
  /** Offset in the area of the 32 lanes' values, side by side, of each register that is live at one of the points. */
  readonly slots: ReadonlyMap<number, number>;
}

/** Lanes that run apart from their chunk, from the region's start when `resume` does not say where. */
export interface PartedLanes {
  /** See PartedPasses. */
  readonly passSlots: ReadonlyMap<number, number>;
  readonly resume?: Resume;
  /** Whether they may start at the region's start too: see `startPoint`. */
  readonly mayStart?: boolean;
}

/** In place of a point: lanes start at the region's start. */
export function startPoint(flow: RegionFlow): number {
  return -flow.nodes.length;
}

/** Whether lanes that start and those that resume are well served by one function: no loop goes round by the jump table. */
export function resumesFromStart({ isReducible, backEdges }: RegionFlow): boolean {
  return isReducible && backEdges.length === 0;
}

/** Writes nodes piece by piece. */
export interface PartEmitter extends NodeEmitter {
  /** Instructions `from` to before `to` of the body; the first part counts the pass, and the one to Infinity ends the body. */
  emitPart(node: FlowNode, position: number, from: number, to: number): void;
}

/**
 * @param uses whether the region touches a register; others stay where they are
 * @returns nothing when the area has no room for so many registers
 */
export function planResume(
  fn: IrFunction,
  graph: FlowGraph,
  liveness: NodeLiveness,
  points: readonly ResumePoint[],
  uses: (register: number) => boolean,
): Resume | undefined {
  const live = new RegisterSet(fn.registers.length);
  for (const point of points) live.addAll(liveAt(fn, graph, liveness, point));
  const slots = new Map<number, number>();
  let end: number = AREA.parted;
  for (const register of live.members()) {
    if (!uses(register)) continue;
    slots.set(register, end);
    end += (typeBits(fn.registers[register]?.type ?? 'b32') === 64 ? 8 : 4) * WARP_SIZE;
  }
  return end > AREA.partedEnd ? undefined : { points, slots };
}

/** Registers that a thread at a point needs. */
export function liveAt(
  fn: IrFunction,
  graph: FlowGraph,
  liveness: NodeLiveness,
  { node: index, at }: ResumePoint,
): RegisterSet {
  const live = new RegisterSet(fn.registers.length);
  const node = graph.nodes[index];
  if (node === undefined) return live;
  for (const next of successorsOf(node)) {
    const behind = liveness.liveIn[next];
    if (behind !== undefined) live.addAll(behind);
  }
  const { terminator } = node;
  if (terminator.kind === 'branch' || terminator.kind === 'switch') live.add(terminator.register);
  if (terminator.kind === 'sync') {
    const kept = liveness.atSync[terminator.point];
    if (kept !== undefined) live.addAll(kept);
  }
  for (const place of node.body.slice(at).reverse()) {
    const instruction = fn.instructions[place];
    if (instruction === undefined) continue;
    if (instruction.guard === undefined)
      for (const register of writtenRegisters(instruction)) live.delete(register);
    for (const register of readRegisters(instruction)) live.add(register);
  }
  return live;
}

/** Brings the registers of a lane that has left its chunk. @param lane local with its number in the warp */
export function loadParted(emit: OperandEmitter, { slots }: Resume, lane: number): void {
  const { f } = emit;
  for (const [register, slot] of slots) {
    const held = emit.typeOf(register);
    const type = wasmTypeOf(held);
    f.get(lane)
      .i32(typeBits(held) === 64 ? 3 : 2)
      .op('i32Shl')
      .area()
      .op('i32Add');
    f.memory(`${type}Load`, slot);
    // Predicates are masks in a chunk.
    if (held === 'pred') f.i32(1).op('i32And');
    f.set(emit.localOf(register));
  }
}

/** Writes a region as a loop around a jump table that can be entered at each of the points. @param entry local with the point */
export function emitResumed(
  f: FunctionBuilder,
  graph: FlowGraph,
  flow: RegionFlow,
  emitter: PartEmitter,
  points: readonly ResumePoint[],
  entry: number,
): void {
  const state = f.local('i32');
  const pieces = flow.nodes.flatMap((index, position) => piecesOf(graph, index, position, points));
  f.get(entry).i32(flow.nodes.length).op('i32Add').set(state);
  const again = f.loop();
  const labels: Label[] = new Array<Label>(flow.nodes.length + points.length).fill(0);
  for (const piece of [...pieces].reverse()) {
    const label = f.block();
    for (const each of piece.states) labels[each < 0 ? flow.nodes.length - 1 - each : each] = label;
  }
  f.get(state).brTable(labels);
  for (const { node, position, from, to } of pieces) {
    f.end();
    emitter.emitPart(node, position, from, to);
    if (to === Infinity) emitEnd(f, flow, emitter, node, position, { state, again, labels });
  }
  f.end();
}

interface Piece {
  readonly node: FlowNode;
  readonly position: number;
  readonly from: number;
  readonly to: number;
  /** The node's position, if the piece is its start, and −1 − index of each point at which it begins. */
  readonly states: readonly number[];
}

function piecesOf(
  graph: FlowGraph,
  index: number,
  position: number,
  points: readonly ResumePoint[],
): Piece[] {
  const node = graph.nodes[index];
  if (node === undefined) return [];
  const starts = new Map<number, number[]>([[0, [position]]]);
  points.forEach((point, which) => {
    if (point.node !== index) return;
    // A point at the body's start must not count the pass again, so it has a piece of its own behind an empty one.
    const key = point.at === 0 ? 0.5 : point.at;
    starts.set(key, [...(starts.get(key) ?? []), -1 - which]);
  });
  const keys = [...starts.keys()].sort((a, b) => a - b);
  return keys.map((key, place) => {
    const next = keys[place + 1];
    return {
      node,
      position,
      from: key,
      to: next === undefined ? Infinity : Math.floor(next),
      states: starts.get(key) ?? [],
    };
  });
}

/** Loop around a jump table: labels are of the nodes by position, then of the points. */
interface ResumedLoop {
  readonly state: number;
  readonly again: Label;
  readonly labels: readonly Label[];
}

function emitEnd(
  f: FunctionBuilder,
  flow: RegionFlow,
  emitter: NodeEmitter,
  node: FlowNode,
  position: number,
  { state, again, labels }: ResumedLoop,
): void {
  const goTo = (target: number): void => {
    const to = flow.positionOf.get(target) ?? 0;
    const isBack = to <= position;
    if (!flow.isReducible)
      emitter.emitBackEdge(node, Math.max(1, node.counted.length), isBack ? target : undefined);
    else if (isBack) emitter.emitBackEdge(node, flow.backEdgeCost(position, to), target);
    // What comes later is around what is open here.
    const label = labels[to];
    if (!isBack && label !== undefined) f.br(label);
    else f.i32(to).set(state).br(again);
  };
  emitTerminator(f, emitter, node, goTo);
}
