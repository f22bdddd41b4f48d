import type { LiveEnds } from './liveRegisters.js';
import type { MachineOp } from './machineOp.js';
import { MemoryChain } from './memoryChain.js';
import type { Value } from './value.js';

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
  readonly writes: Uint8Array;
  readonly ends: LiveEnds;
  /** Whether the region is the body of a loop. */
  readonly loops: boolean;
}

/** Cycles until a uniform value, or one of constant memory, lies in a register. */
const FETCH_LATENCY = 20;
/** Cycles of the addition of a constant. */
const STEP_LATENCY = 5;
/** Registers of an address. */
const ADDRESS_WIDTH = 2;

/** Operations of a region with their true dependences: each write is a value of its own, and memory keeps its order. */
export class ValueGraph {
  readonly nodes: Node[] = [];
  /** Registers taken before the first operation. */
  start: number;
  private readonly current = new Map<number, Value>();
  private readonly fetched = new Map<string, Value>();
  private readonly memory = new MemoryChain();
  private readonly kept = new Map<number, Value>();

  constructor(
    private readonly input: RegionInput,
    budget: number,
  ) {
    this.start = input.ends.passing;
    for (const register of input.ends.into) this.entering(register);
    if (input.loops) this.keepBases(budget);
    for (const op of input.ops) this.add(op);
    const ends = new Set(input.ends.out.map((register) => this.current.get(register)));
    for (const value of ends) if (value !== undefined) this.materialise(value).uses++;
    for (const value of this.kept.values()) value.uses++;
    this.measureHeights();
  }

  /** A loop has the uniform addresses that it adds to in registers, fetched before it, when there are enough. */
  private keepBases(budget: number): void {
    const bases = new Set(this.input.ops.flatMap((op) => op.bases));
    if (bases.size === 0) return;
    const written = new Set(this.input.ops.flatMap((op) => op.defs));
    for (const register of bases) {
      if (written.has(register) || this.start + ADDRESS_WIDTH > budget) continue;
      const value: Value = { width: ADDRESS_WIDTH, uses: 0, writer: -1, offset: 0 };
      this.start += ADDRESS_WIDTH;
      this.kept.set(register, value);
    }
  }

  private entering(register: number): Value {
    const value: Value = { width: this.widthOf(register), uses: 0, writer: -1, offset: 0 };
    this.current.set(register, value);
    this.start += value.width;
    return value;
  }

  private widthOf(register: number): number {
    return this.input.widths[register] ?? 0;
  }

  private valueOf(register: number): Value {
    return this.current.get(register) ?? this.entering(register);
  }

  private add(op: MachineOp): void {
    if (this.rename(op)) return;
    let { place } = op;
    let base: Value | undefined;
    const uses = new Set<Value>();
    for (const register of op.uses) {
      const value = this.valueOf(register);
      if (place?.base === register) {
        base = value.root ?? value;
        place = { ...place, offset: place.offset + value.offset };
        uses.add(base);
      } else uses.add(this.materialise(value));
    }
    for (const register of op.bases) uses.add(this.fetch(register, op.block));
    if (op.guarded) {
      for (const register of op.defs) {
        const before = (this.input.writes[register] ?? 0) > 1 ? this.current.get(register) : undefined;
        if (before !== undefined) uses.add(this.materialise(before));
      }
    }
    const index = this.nodes.length;
    const defs = op.defs.map((register) => {
      const value: Value = { width: this.widthOf(register), uses: 0, writer: index, offset: 0 };
      this.current.set(register, value);
      return value;
    });
    this.push([...uses], defs, op.latency, op.temps, this.memory.before(op, index, place, base));
  }

  /** Copies and steps of addresses: no operations, but other names of values, and values to be made when they are needed. */
  private rename(op: MachineOp): boolean {
    const [target, second] = op.defs;
    const [source, other] = op.uses;
    if (op.guarded || target === undefined || source === undefined) return false;
    if (second !== undefined || other !== undefined) return false;
    if (op.copy) {
      this.current.set(target, this.valueOf(source));
      return true;
    }
    if (op.step === undefined || op.bases.length > 0) return false;
    const from = this.valueOf(source);
    const [root, offset] = [from.root ?? from, from.offset + op.step];
    this.current.set(target, { width: this.widthOf(target), uses: 0, writer: -1, root, offset });
    return true;
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
    this.push([value.root], [value], STEP_LATENCY, 0, []);
    return value;
  }

  /** Brings a uniform address into registers: once before a loop, or in each block that needs it. */
  private fetch(register: number, block: number): Value {
    const key = `${block} ${register}`;
    const known = this.kept.get(register) ?? this.fetched.get(key);
    if (known !== undefined) return known;
    const value: Value = { width: ADDRESS_WIDTH, uses: 0, writer: this.nodes.length, offset: 0 };
    this.fetched.set(key, value);
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
