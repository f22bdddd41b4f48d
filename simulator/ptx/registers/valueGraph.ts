import type { MachineOp, Place } from './machineOps.js';

/** A value of a region: from its write, or the region's start, to its last use. */
export interface Value {
  readonly width: number;
  /** Operations that still read it; one more when it lives on behind the region. */
  uses: number;
  /** Its operation; -1 for one that is there at the start. */
  writer: number;
  /** Of a value that is another and a constant: which. An address takes it in; anything else needs it in a register. */
  readonly root?: Value;
  readonly offset: number;
}

export interface Node {
  readonly uses: readonly Value[];
  readonly defs: readonly Value[];
  readonly successors: number[];
  readonly temps: number;
  readonly latency: number;
  waitsFor: number;
  /** Cycles to the end of the region along the longest chain. */
  height: number;
  readyAt: number;
}

export interface RegionInput {
  readonly ops: readonly MachineOp[];
  readonly widths: Uint8Array;
  readonly writes: Uint16Array;
  readonly liveIn: readonly number[];
  readonly liveOut: readonly number[];
  /** Whether the region is the body of a loop. */
  readonly loops: boolean;
}

/** Cycles until a uniform value, or one of constant memory, lies in a register. */
const FETCH_LATENCY = 20;

/** Operations of a region with their true dependences: each write is a value of its own, and memory keeps its order. */
export class ValueGraph {
  readonly nodes: Node[] = [];
  /** Registers taken before the first operation. */
  start = 0;
  private readonly current = new Map<number, Value>();
  private readonly fetched = new Map<number, Value>();
  private readonly memory = new MemoryChain();
  private readonly kept = new Map<number, Value>();

  constructor(
    private readonly input: RegionInput,
    budget: number,
  ) {
    for (const register of input.liveIn) this.entering(register);
    if (input.loops) this.keepBases(budget);
    for (const op of input.ops) this.add(op);
    const ends = new Set(input.liveOut.map((register) => this.current.get(register)));
    for (const value of ends) if (value !== undefined) this.materialise(value).uses++;
    for (const value of this.kept.values()) value.uses++;
    this.measureHeights();
  }

  /** A loop has the uniform addresses that it adds to in registers, fetched before it, when there are enough. */
  private keepBases(budget: number): void {
    const written = new Set(this.input.ops.flatMap((op) => op.defs));
    const bases = new Set(this.input.ops.flatMap((op) => op.bases));
    for (const register of bases) {
      if (written.has(register) || this.start + 2 > budget) continue;
      const value: Value = { width: 2, uses: 0, writer: -1, offset: 0 };
      this.start += 2;
      this.kept.set(register, value);
    }
  }

  private entering(register: number): Value {
    const value: Value = { width: this.input.widths[register] ?? 0, uses: 0, writer: -1, offset: 0 };
    this.current.set(register, value);
    this.start += value.width;
    return value;
  }

  private valueOf(register: number): Value {
    return this.current.get(register) ?? this.entering(register);
  }

  private add(op: MachineOp): void {
    const [target] = op.defs;
    const [source] = op.uses;
    if (!op.guarded && source !== undefined && target !== undefined && op.defs.length === 1) {
      if (op.copy) {
        this.current.set(target, this.valueOf(source));
        return;
      }
      if (op.step !== undefined && op.uses.length === 1) {
        const from = this.valueOf(source);
        const root = from.root ?? from;
        this.current.set(target, {
          width: this.input.widths[target] ?? 0,
          uses: 0,
          writer: -1,
          root,
          offset: from.offset + op.step,
        });
        return;
      }
    }
    const sources: Value[] = [];
    let place: Place | undefined = op.place;
    let placeValue: Value | undefined;
    for (const register of op.uses) {
      const value = this.valueOf(register);
      if (place !== undefined && place.base === register) {
        placeValue = value.root ?? value;
        place = { ...place, offset: place.offset + value.offset };
        sources.push(placeValue);
      } else sources.push(this.materialise(value));
    }
    for (const base of op.bases) sources.push(this.fetch(base, op.block));
    if (op.guarded) {
      for (const register of op.defs) {
        const before = (this.input.writes[register] ?? 0) > 1 ? this.current.get(register) : undefined;
        if (before !== undefined) sources.push(this.materialise(before));
      }
    }
    const index = this.nodes.length;
    const defs = op.defs.map((register) => {
      const value: Value = { width: this.input.widths[register] ?? 0, uses: 0, writer: index, offset: 0 };
      this.current.set(register, value);
      return value;
    });
    this.push(
      [...new Set(sources)],
      defs,
      op.latency,
      op.temps,
      this.memory.before(op, index, place, placeValue),
    );
  }

  private push(
    uses: readonly Value[],
    defs: readonly Value[],
    latency: number,
    temps: number,
    ordered: readonly number[],
  ): void {
    const index = this.nodes.length;
    const node: Node = { uses, defs, successors: [], temps, latency, waitsFor: 0, height: 0, readyAt: 0 };
    this.nodes.push(node);
    const after = new Set(ordered);
    for (const value of uses) {
      value.uses++;
      if (value.writer >= 0) after.add(value.writer);
    }
    for (const earlier of after) {
      this.nodes[earlier]?.successors.push(index);
      node.waitsFor++;
    }
  }

  /** Puts a value that is another and a constant into a register of its own. */
  private materialise(value: Value): Value {
    if (value.root === undefined || value.writer >= 0) return value;
    value.writer = this.nodes.length;
    this.push([value.root], [value], 5, 0, []);
    return value;
  }

  private fetch(register: number, block: number): Value {
    const known = this.kept.get(register) ?? this.fetched.get(register + block * 2 ** 20);
    if (known !== undefined) return known;
    const value: Value = { width: 2, uses: 0, writer: this.nodes.length, offset: 0 };
    this.fetched.set(register + block * 2 ** 20, value);
    this.push([], [value], FETCH_LATENCY, 0, []);
    return value;
  }

  private measureHeights(): void {
    for (let index = this.nodes.length - 1; index >= 0; index--) {
      const node = this.nodes[index];
      if (node === undefined) continue;
      let height = 0;
      for (const next of node.successors) height = Math.max(height, this.nodes[next]?.height ?? 0);
      node.height = height + node.latency;
    }
  }
}

interface Access {
  readonly index: number;
  readonly place: Place | undefined;
  readonly base: Value | undefined;
}

/** Which earlier operations on memory one must not pass. */
class MemoryChain {
  private readonly writes = new Map<string, Access[]>();
  private readonly reads = new Map<string, Access[]>();
  private fence = -1;
  private sinceFence: number[] = [];

  before(op: MachineOp, index: number, place: Place | undefined, base: Value | undefined): number[] {
    if (op.order === 'none') return [];
    const found: number[] = [];
    if (this.fence >= 0) found.push(this.fence);
    if (op.order === 'fence') {
      found.push(...this.sinceFence);
      this.writes.clear();
      this.reads.clear();
      this.sinceFence = [];
      this.fence = index;
      return found;
    }
    const access = { index, place, base };
    const writes = this.writes.get(op.space) ?? [];
    const reads = this.reads.get(op.space) ?? [];
    for (const earlier of writes) if (mayMeet(earlier, access)) found.push(earlier.index);
    if (op.order === 'write') {
      for (const earlier of reads) if (mayMeet(earlier, access)) found.push(earlier.index);
      writes.push(access);
      this.writes.set(op.space, writes.slice(-256));
    } else {
      reads.push(access);
      this.reads.set(op.space, reads.slice(-256));
    }
    this.sinceFence.push(index);
    return found;
  }
}

/** Two accesses by one register, or one name, at distances that do not overlap keep apart. */
function mayMeet(a: Access, b: Access): boolean {
  if (a.place === undefined || b.place === undefined) return true;
  const same =
    a.base !== undefined ? a.base === b.base : b.base === undefined && a.place.base === b.place.base;
  if (!same) return true;
  return a.place.offset < b.place.offset + b.place.bytes && b.place.offset < a.place.offset + a.place.bytes;
}
