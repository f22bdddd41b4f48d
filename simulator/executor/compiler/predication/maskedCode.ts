import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import type { FlowGraph, FlowNode, Terminator, RegionFlow } from '../analysis/index.js';
import type { MaskedZone } from './maskedZones.js';
import type { VectorOperands } from '../vector/index.js';

/** A loop written a second time, for lanes that come to it as if none had gone another way before. */
export interface SteadyForm {
  /** Leaves whether the lanes have come so. */
  pushIsSteady(): void;
  /** Writes the loop so. */
  within(body: () => void): void;
  /** Behind it. @param pushStays pushes whether any lane goes round the loop again */
  leave(pushStays: () => void): void;
}

/** What code under masks needs of the chunk's function. */
export interface MaskedSurroundings {
  /** Counts the node's pass and writes its instructions, for the lanes of a mask or for all. */
  emitNode(node: FlowNode, position: number, mask: readonly number[] | undefined): void;
  /** How a loop of one node is written for lanes that come to it as if none had gone another way. */
  steadyLoop(node: FlowNode): SteadyForm | undefined;
  /** Spends fuel for the lanes of a mask, or for all, that go round a loop again. */
  spend(node: FlowNode, cost: number, mask: readonly number[] | undefined): void;
}

type Branch = Extract<Terminator, { kind: 'branch' }>;

/** Undefined stands for all lanes. */
type Mask = readonly number[] | undefined;

/**
 * Writes zones: their nodes one after another, each for the lanes that come to it, and skipped when none does. A loop goes
 * round while any lane stays in it.
 */
export class MaskedCode {
  private readonly pool: number[][] = [];
  private masks = new Map<number, readonly number[]>();
  /** Lanes that go round a loop again, by its header. */
  private again = new Map<number, readonly number[]>();
  private taken = 0;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly v: VectorOperands,
    private readonly graph: FlowGraph,
    private readonly flow: RegionFlow,
    /** Registers that must keep what they hold for lanes that are not active. */
    private readonly kept: ReadonlySet<number>,
    private readonly around: MaskedSurroundings,
  ) {}

  emit(zone: MaskedZone): void {
    this.masks = new Map();
    this.again = new Map();
    this.taken = 0;
    const level = new Level(this.flow, zone, undefined);
    if (zone.isLoop) {
      const mask = this.maskOf(zone.entry);
      for (const local of mask) this.f.v128(-1, -1, -1, -1).set(local);
      this.clearMerges(level);
      this.emitLoop(zone, zone.entry);
    } else {
      this.clearMerges(level);
      this.emitNode(zone, level, zone.entry, undefined);
    }
    this.emitLevel(zone, level);
    this.v.setMask(undefined);
  }

  private emitLevel(zone: MaskedZone, level: Level): void {
    for (const position of level.own) {
      if (position === level.start) continue;
      if (level.isHeader(position)) {
        const none = this.f.block();
        this.pushAny(this.maskOf(position));
        this.f.op('i32Eqz').brIf(none);
        this.emitLoop(zone, position);
        this.f.end();
      } else this.emitNode(zone, level, position, this.maskOf(position));
    }
  }

  /** Some lane comes to the header. */
  private emitLoop(zone: MaskedZone, header: number): void {
    const { f } = this;
    const level = new Level(this.flow, zone, header);
    const mask = this.maskOf(header);
    const next = this.fresh();
    this.again.set(header, next);
    const done = f.block();
    if (level.own.length === 1) this.emitTogether(zone, level, header, mask, done);
    const again = f.loop();
    for (const local of next) f.v128(0, 0, 0, 0).set(local);
    this.clearMerges(level);
    this.emitNode(zone, level, header, mask, true);
    this.emitLevel(zone, level);
    mask.forEach((local, group) => f.get(next[group] ?? 0).set(local));
    this.pushAny(mask);
    f.brIf(again).end().end();
  }

  /** A loop of one node goes round without masks as long as all lanes stay in it. @param done label behind the loop */
  private emitTogether(
    zone: MaskedZone,
    level: Level,
    header: number,
    mask: readonly number[],
    done: Label,
  ): void {
    const { f } = this;
    const node = this.graph.nodes[this.flow.nodes[header] ?? -1];
    if (node?.terminator.kind !== 'branch') return;
    const { terminator } = node;
    const isBack = (target: number): boolean => this.flow.positionOf.get(target) === header;
    if (isBack(terminator.then) === isBack(terminator.else)) return;
    const stays = this.edge();
    const rounds = (): void => {
      const again = f.loop();
      this.around.emitNode(node, header, undefined);
      this.setEdge(stays, terminator, isBack(terminator.then), undefined);
      this.pushAll(stays);
      f.if();
      this.around.spend(node, this.flow.backEdgeCost(header, header), undefined);
      f.br(again).end().end();
    };
    this.pushAll(mask);
    f.if();
    const steady = this.around.steadyLoop(node);
    if (steady === undefined) rounds();
    else {
      steady.pushIsSteady();
      f.if();
      steady.within(rounds);
      steady.leave(() => this.pushAny(stays));
      f.else();
      rounds();
      f.end();
    }
    mask.forEach((local, group) => f.get(stays[group] ?? 0).set(local));
    this.around.spend(node, this.flow.backEdgeCost(header, header), mask);
    const out = isBack(terminator.then) ? terminator.else : terminator.then;
    if (this.flow.positionOf.get(out) !== zone.exit) {
      // All came, so that those leave which do not stay. The predicate itself may have been a scalar in the rounds.
      const leaves = this.edge();
      mask.forEach((local, group) =>
        f
          .get(local)
          .simd('v128Not')
          .set(leaves[group] ?? 0),
      );
      this.addEdge(zone, level, node, header, out, leaves);
    }
    this.pushAny(mask);
    f.op('i32Eqz').brIf(done).end();
  }

  /** @param isNeeded whether some lane is known to come here */
  private emitNode(zone: MaskedZone, level: Level, position: number, mask: Mask, isNeeded = false): void {
    const { f, v } = this;
    const node = this.graph.nodes[this.flow.nodes[position] ?? -1];
    if (node === undefined) return;
    const isTested = mask !== undefined && !isNeeded;
    if (isTested) {
      this.pushAny(mask);
      f.if();
    }
    v.setMask(mask, this.kept);
    this.around.emitNode(node, position, mask);
    v.setMask(undefined);
    if (isTested) f.end();
    const { terminator } = node;
    if (terminator.kind === 'jump') this.addEdge(zone, level, node, position, terminator.to, mask);
    if (terminator.kind !== 'branch') return;
    if (terminator.then === terminator.else) {
      this.addEdge(zone, level, node, position, terminator.then, mask);
      return;
    }
    for (const isTaken of [true, false]) {
      const to = isTaken ? terminator.then : terminator.else;
      if (this.flow.positionOf.get(to) === zone.exit) continue;
      const edge = this.edge();
      this.setEdge(edge, terminator, isTaken, mask);
      this.addEdge(zone, level, node, position, to, edge);
    }
  }

  /** The lanes of a mask that go one way at a branch. */
  private setEdge(
    edge: readonly number[],
    { register, negated }: Branch,
    isTaken: boolean,
    mask: Mask,
  ): void {
    const { f, v } = this;
    edge.forEach((local, group) => {
      if (mask !== undefined) f.get(mask[group] ?? 0);
      v.use({ kind: 'register', register }, 'pred', group);
      if (isTaken === negated) f.simd(mask === undefined ? 'v128Not' : 'v128AndNot');
      else if (mask !== undefined) f.simd('v128And');
      f.set(local);
    });
  }

  private addEdge(
    zone: MaskedZone,
    level: Level,
    node: FlowNode,
    from: number,
    target: number,
    mask: Mask,
  ): void {
    const { f } = this;
    const to = this.flow.positionOf.get(target) ?? 0;
    if (to === zone.exit) return;
    const isBack = to <= from;
    const goal = isBack ? this.again.get(to) : this.maskOf(to);
    if (goal === undefined) throw new RangeError(`no loop at ${to} for an edge from ${from}`);
    if (isBack && mask !== undefined) this.around.spend(node, this.flow.backEdgeCost(from, to), mask);
    const isOnly = !isBack && level.isOnlyWay(from, to);
    goal.forEach((local, group) => {
      if (mask === undefined) f.v128(-1, -1, -1, -1);
      else f.get(mask[group] ?? 0);
      if (!isOnly) f.get(local).simd('v128Or');
      f.set(local);
    });
  }

  /** Masks to which several ways add start empty. */
  private clearMerges(level: Level): void {
    for (const position of level.merges())
      for (const local of this.maskOf(position)) this.f.v128(0, 0, 0, 0).set(local);
  }

  private pushAny(mask: readonly number[]): void {
    mask.forEach((local, index) => {
      this.f.get(local);
      if (index > 0) this.f.simd('v128Or');
    });
    this.f.simd('v128AnyTrue');
  }

  private pushAll(mask: readonly number[]): void {
    mask.forEach((local, index) => {
      this.f.get(local);
      if (index > 0) this.f.simd('v128And');
    });
    this.f.simd('i32x4AllTrue');
  }

  private maskOf(position: number): readonly number[] {
    let mask = this.masks.get(position);
    if (mask === undefined) {
      mask = this.fresh();
      this.masks.set(position, mask);
    }
    return mask;
  }

  private fresh(): readonly number[] {
    this.taken += 1;
    return (this.pool[this.taken - 1] ??= this.locals());
  }

  private readonly edges: number[][] = [];

  private edge(): readonly number[] {
    return (this.edges[0] ??= this.locals());
  }

  private locals(): number[] {
    return Array.from({ length: this.v.groups }, () => this.f.local('v128'));
  }
}

/** Nodes of a zone that lie in one loop, or in none. */
class Level {
  /** Nodes directly here, and headers of the loops right inside. */
  readonly own: readonly number[];
  readonly start: number;
  private readonly within: ReadonlySet<number>;
  private readonly predecessors = new Map<number, number[]>();
  private readonly loopsOf: (position: number) => number[];

  /** @param header of the level's loop */
  constructor(
    flow: RegionFlow,
    zone: MaskedZone,
    private readonly header: number | undefined,
  ) {
    const inZone = new Set(zone.nodes);
    // The entry may be the header of a loop around the zone.
    const isLoop = (loop: number): boolean => inZone.has(loop) && (loop !== zone.entry || zone.isLoop);
    this.loopsOf = (position) => loopsAround(flow, position).filter(isLoop);
    this.within = new Set(
      zone.nodes.filter((position) => header === undefined || this.loopsOf(position).includes(header)),
    );
    const depth = header === undefined ? 0 : this.loopsOf(header).length;
    this.own = zone.nodes.filter((position) => {
      if (!this.within.has(position)) return false;
      const loops = this.loopsOf(position);
      return loops.length === depth || (loops.length === depth + 1 && loops[0] === position);
    });
    this.start = header ?? zone.entry;
    for (const from of zone.nodes) {
      for (const to of flow.successors[from] ?? []) {
        if (to <= from || !inZone.has(to)) continue;
        this.predecessors.set(to, [...(this.predecessors.get(to) ?? []), from]);
      }
    }
  }

  isHeader(position: number): boolean {
    return position !== this.header && this.loopsOf(position)[0] === position;
  }

  /** Whether a node's mask is what one edge in this level gives it. */
  isOnlyWay(from: number, to: number): boolean {
    return this.predecessors.get(to)?.length === 1 && this.isHere(from) && this.own.includes(to);
  }

  /** Nodes here whose masks are added to by several edges, or from inside a loop. */
  merges(): number[] {
    return this.own.filter((position) => {
      if (position === this.start) return false;
      const from = this.predecessors.get(position) ?? [];
      return from.length !== 1 || !from.every((each) => this.isHere(each));
    });
  }

  /** Whether a node runs directly in this level, so that its edges are written there. */
  private isHere(position: number): boolean {
    return this.own.includes(position) && !this.isHeader(position);
  }
}

/** Headers of the loops around a node, the innermost first. */
function loopsAround(flow: RegionFlow, position: number): number[] {
  const found: number[] = [];
  for (let loop = flow.innermostLoop[position] ?? -1; loop >= 0;) {
    found.push(loop);
    loop = flow.loopParent(loop);
  }
  return found;
}
