import type { ExecutionCounters } from '../types.js';
import { LaneFault } from './faults.js';
import type { GlobalJournal } from './globalJournal.js';
import {
  OffsetMemory,
  nowhere,
  type GlobalMemory,
  type Location,
  type ResolvedSpace,
} from './memorySpaces.js';
import type { AccessKind } from './laneInstructions.js';
import { CLUSTER_RANK_STEP } from '../memory/index.js';
import type { BlockCluster } from './blockCluster.js';
import type { InterpreterObserver, LaneAccess } from './observer.js';
import type { Program } from './program.js';
import { lanesPerWarp } from './registerFile.js';
import type { Warp } from './warp.js';
import { laneCount } from './warpOperations.js';

/** Where an access stands: the warp that makes it and the instruction. */
export interface AccessPlace {
  readonly state: Warp;
  readonly pc: number;
}

export interface BlockMemoryResources {
  readonly program: Program;
  readonly global: GlobalMemory;
  readonly params: Uint8Array;
  /** Of the whole run: its thread-instructions are the positions of the journal. */
  readonly counters: ExecutionCounters;
  readonly observer: InterpreterObserver;
  readonly journal?: GlobalJournal;
}

/** Every memory that the threads of one block reach. Accesses are checked, counted and told to who observes them. */
export class BlockMemory {
  readonly shared: OffsetMemory;
  private readonly params: OffsetMemory;
  /** By thread, made when first reached. */
  private readonly locals: (OffsetMemory | undefined)[] = [];
  /** Position of the first lane of the step under way, and the lanes that take part in it. */
  private stepPosition = 0;
  private stepLanes = 0;

  /** @param cluster where blocks meet in clusters: the block's own, and its rank there */
  constructor(
    private readonly resources: BlockMemoryResources,
    private readonly cluster?: { readonly rank: number; readonly blocks: BlockCluster },
  ) {
    this.shared = new OffsetMemory('shared', new Uint8Array(resources.program.sharedBytes));
    this.params = new OffsetMemory('param', resources.params);
  }

  /** @param position thread-instructions of the run before the step */
  beginStep(position: number, lanes: number): void {
    this.stepPosition = position;
    this.stepLanes = lanes;
  }

  /** Checks one lane's access and finds its bytes. @throws LaneFault */
  locate(
    place: AccessPlace,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    align: number,
  ): Location {
    if (space === 'shared' && this.cluster !== undefined) {
      const rank = Math.floor(address / CLUSTER_RANK_STEP);
      const offset = address % CLUSTER_RANK_STEP;
      if (rank !== this.cluster.rank) return this.locateRemote(place, lane, rank, offset, bytes, kind, align);
      return this.locateOwn(place, lane, space, offset, bytes, kind, align);
    }
    return this.locateOwn(place, lane, space, address, bytes, kind, align);
  }

  private locateRemote(
    place: AccessPlace,
    lane: number,
    rank: number,
    offset: number,
    bytes: number,
    kind: AccessKind,
    align: number,
  ): Location {
    const { counters, observer } = this.resources;
    const owner = this.cluster?.blocks.sharedOf(rank);
    const address = rank * CLUSTER_RANK_STEP + offset;
    const location = this.orFault(place, lane, { space: 'shared', address, bytes, kind }, () => {
      if (owner !== undefined) return owner.memory.locate(offset, bytes, kind !== 'load', align);
      throw new LaneFault(
        'clusterBlockNotPresent',
        `shared address 0x${address.toString(16)}: the block of rank ${rank} has ended, or the cluster has none`,
        address,
      );
    });
    if (location === undefined || owner === undefined) return nowhere('shared', bytes);
    observer.onRemoteAccess?.(place.state, place.pc, lane, owner.block, offset, bytes, kind, location);
    counters.sharedBytes += bytes;
    return location;
  }

  private locateOwn(
    place: AccessPlace,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    align: number,
  ): Location {
    const { counters, observer, journal } = this.resources;
    const location = this.orFault(place, lane, { space, address, bytes, kind }, () =>
      this.memoryOf(place, lane, space, address, bytes, kind, align),
    );
    if (location === undefined) return nowhere(space, bytes);
    observer.onAccess?.(place.state, place.pc, lane, space, address, bytes, kind, location);
    if (space === 'shared') counters.sharedBytes += bytes;
    else if (space === 'global') {
      if (kind !== 'store') counters.globalLoadBytes += bytes;
      if (kind !== 'load') counters.globalStoreBytes += bytes;
      journal?.record(this.positionOf(lane), kind, address, bytes, place.pc, location);
    }
    return location;
  }

  /**
   * The accesses of many lanes at once: `at` is what to add to each lane's address. Undefined, and nothing counted or told,
   * unless all are allowed and lie in one piece of memory, and nobody wants to hear of each lane's by itself.
   * @param bytes of each lane; a power of two
   */
  locateTogether(
    place: AccessPlace,
    lanes: number,
    space: ResolvedSpace,
    addresses: Float64Array,
    bytes: number,
    kind: AccessKind,
  ): Location | undefined {
    const { counters, observer, journal, global } = this.resources;
    const isHeardByLane = observer.onAccess !== undefined && observer.onAccesses === undefined;
    if (space === 'local' || journal !== undefined || isHeardByLane) return undefined;
    // Addresses tell the rank; those of rank 0 are offsets.
    if (space === 'shared' && this.cluster !== undefined && this.cluster.rank !== 0) return undefined;
    const memory = space === 'global' ? global : space === 'shared' ? this.shared : this.params;
    const location = memory.locateTogether(addresses, lanes, bytes, kind !== 'load');
    if (location === undefined) return undefined;
    observer.onAccesses?.(place.state, place.pc, lanes, space, addresses, bytes, kind);
    const all = bytes * laneCount(lanes);
    if (space === 'shared') counters.sharedBytes += all;
    else if (space === 'global') {
      if (kind !== 'store') counters.globalLoadBytes += all;
      if (kind !== 'load') counters.globalStoreBytes += all;
    }
    return location;
  }

  /** A texel that a texture unit has read: told to observers, and no access that is counted. */
  tellFetch(place: AccessPlace, lane: number, address: number, bytes: number): void {
    const { observer, global } = this.resources;
    if (observer.onAccess === undefined) return;
    const location = global.locate(address, bytes, false, 1);
    observer.onAccess(place.state, place.pc, lane, 'global', address, bytes, 'load', location);
  }

  /** Bytes that a call of the device's runtime reads: neither counted nor told. @throws LaneFault */
  peek(place: AccessPlace, lane: number, space: ResolvedSpace, address: number, bytes: number): Location {
    const own = (this.cluster?.rank ?? 0) * CLUSTER_RANK_STEP;
    return this.memoryOf(
      place,
      lane,
      space,
      space === 'shared' ? address - own : address,
      bytes,
      'load',
      bytes,
    );
  }

  /** Thread-instructions of the run before the one that this lane executes in the present step. */
  private positionOf(lane: number): number {
    return this.stepPosition + laneCount(this.stepLanes & ((1 << lane) - 1));
  }

  /** Undefined for an access that is not allowed but to which the observer shuts an eye. */
  private orFault(
    place: AccessPlace,
    lane: number,
    access: LaneAccess,
    locate: () => Location,
  ): Location | undefined {
    try {
      return locate();
    } catch (error) {
      if (!(error instanceof LaneFault)) throw error;
      const goesOn = this.resources.observer.onAccessFault?.(place.state, place.pc, lane, access, error);
      if (goesOn !== true) throw error;
      return undefined;
    }
  }

  private memoryOf(
    place: AccessPlace,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    align: number,
  ): Location {
    switch (space) {
      case 'global':
        return this.resources.global.locate(address, bytes, kind !== 'load', align);
      case 'shared':
        return this.shared.locate(address, bytes, kind !== 'load', align);
      case 'param':
        return this.params.locate(address, bytes, kind !== 'load', align);
      case 'local': {
        const thread = place.state.index * lanesPerWarp + lane;
        const memory =
          this.locals[thread] ?? new OffsetMemory('local', new Uint8Array(this.resources.program.localBytes));
        this.locals[thread] = memory;
        return memory.locate(address, bytes, kind !== 'load', align);
      }
    }
  }
}
