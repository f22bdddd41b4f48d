import type { DeviceRuntime } from '../deviceRuntime/index.js';
import type { TextureUnits } from '../textures/index.js';
import type { BlockMemory } from './blockMemory.js';
import type { AccessKind, MemoryContext } from './laneInstructions.js';
import type { Location, ResolvedSpace } from './memorySpaces.js';
import type { BlockIdentity } from './operands.js';
import type { Warp } from './warp.js';

/** The block that a warp is of. */
export interface WarpHost {
  readonly identity: BlockIdentity;
  readonly memory: BlockMemory;
  readonly runtime: DeviceRuntime;
  readonly textures: TextureUnits;
  readClock(): number;
  sleep(ns: number): void;
  tellHeap(context: WarpContext, lane: number, what: 'malloc' | 'free', address: number, bytes: number): void;
}

/** What the instructions of one warp see of its block. */
export class WarpContext implements MemoryContext {
  pc = 0;
  lane = 0;

  constructor(
    private readonly execution: WarpHost,
    readonly state: Warp,
  ) {}

  get registers() {
    return this.state.registers;
  }

  get warp(): number {
    return this.state.index;
  }

  get identity(): BlockIdentity {
    return this.execution.identity;
  }

  locate(
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    align = bytes,
  ): Location {
    return this.execution.memory.locate(this, lane, space, address, bytes, kind, align);
  }

  locateTogether(
    lanes: number,
    space: ResolvedSpace,
    addresses: Float64Array,
    bytes: number,
    kind: AccessKind,
  ): Location | undefined {
    return this.execution.memory.locateTogether(this, lanes, space, addresses, bytes, kind);
  }

  peek(lane: number, space: ResolvedSpace, address: number, bytes: number): Location {
    return this.execution.memory.peek(this, lane, space, address, bytes);
  }

  get runtime(): DeviceRuntime {
    return this.execution.runtime;
  }

  get textures(): TextureUnits {
    return this.execution.textures;
  }

  tellFetch(lane: number, address: number, bytes: number): void {
    this.execution.memory.tellFetch(this, lane, address, bytes);
  }

  tellHeap(lane: number, what: 'malloc' | 'free', address: number, bytes: number): void {
    this.execution.tellHeap(this, lane, what, address, bytes);
  }

  readClock(): number {
    return this.execution.readClock();
  }

  sleep(ns: number): void {
    this.execution.sleep(ns);
  }
}
