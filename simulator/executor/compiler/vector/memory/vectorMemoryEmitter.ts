import { isAccess, isOnAddress } from '../../../../ptx/index.js';
import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import type { FunctionBuilder } from '../../../../wasm/index.js';
import { AddressEmitter, type MemorySurroundings } from '../../accesses/index.js';
import { makesGenericParams, loadName, registerView, storeName } from '../../instructions/index.js';
import type { VectorOperands } from '../operands/index.js';
import { findBundles, type AccessBundle } from './accessBundles.js';
import { describeAccess, type ChunkAccess, type ChunkMemory } from './chunkAccess.js';
import { ChunkAddresses, type ActiveLanes } from './chunkAddresses.js';
import { convertAddress, isInSpace } from './addressConversions.js';
import { updateOf, type ChunkUpdate } from './chunkUpdates.js';
import { eachPart, elementBytes, loadLanes, storeLane, type LaneMove, type Part } from './laneMoves.js';
import { loadWhole, movesWhole, storeWhole } from './neighbourMoves.js';

/** Loads, stores and atomics of all lanes of a chunk together. */
export class VectorMemoryEmitter {
  private readonly f: FunctionBuilder;
  private readonly addresses: ChunkAddresses;
  private readonly uniform: AddressEmitter;
  private readonly hasGenericParams: boolean;
  /** Of the access being written: which lanes make it. */
  private active: ActiveLanes = { bits: undefined };
  /** Locals of parts, by their numbers. */
  private readonly parts: number[] = [];
  /** Of the node being written. */
  private bundles: ReadonlyMap<number, AccessBundle> = new Map();

  constructor(
    private readonly v: VectorOperands,
    private readonly around: ChunkMemory,
  ) {
    this.f = v.f;
    this.addresses = new ChunkAddresses(v, around);
    this.uniform = new AddressEmitter(v.scalar, this.scalarSurroundings());
    this.hasGenericParams = makesGenericParams(v.fn);
  }

  /** @param body a node's instructions, of which all will be written before those of another. */
  beginNode(body: readonly number[]): void {
    this.bundles = findBundles(this.v.fn, body, (instruction) => this.around.caches.groupOf(instruction));
  }

  /** @returns false, with nothing written, for what is to be written lane by lane. */
  emit(instruction: IrInstruction): boolean {
    if (isAccess(instruction.opcode)) return this.access(instruction);
    if (!isOnAddress(instruction.opcode)) return false;
    if (instruction.opcode === 'isspacep') isInSpace(this.v, instruction);
    else convertAddress(this.v, instruction);
    return true;
  }

  private access(instruction: IrInstruction): boolean {
    const access = describeAccess(this.v, this.around, instruction);
    if (access === undefined || (access.space === 'generic' && this.hasGenericParams)) return false;
    const isUniform = access.stride === 0 && access.space !== 'local';
    // Each lane has local memory of its own behind the same generic address.
    if (isUniform && access.space === 'generic' && this.around.localLayout.bytes > 0) return false;
    const update = access.purpose === 'update' ? updateOf(access, this.v) : undefined;
    if (access.purpose === 'update' && update === undefined) return false;
    this.underMask(() => {
      if (update !== undefined) this.update(access, update, isUniform);
      else if (access.purpose === 'store') this.store(access, isUniform);
      else this.load(access, isUniform);
    });
    return true;
  }

  /** An atomic whose result nobody asks for, and which gives the same in any order. */
  private update(access: ChunkAccess, update: ChunkUpdate, isUniform: boolean): void {
    const { f, v, addresses, active } = this;
    if (isUniform && update.foldsLanes) {
      const base = this.uniform.push(access.instruction, access.address);
      f.set(addresses.first);
      update.once(addresses.first, base);
      return;
    }
    addresses.countStatic(access, active);
    addresses.reachAll(access, active);
    const at = v.temporary('update address', 'i32');
    for (let lane = 0; lane < v.width; lane++)
      this.ifActive(lane, active, () => {
        this.anywhere()(lane);
        f.set(at);
        update.ofLane(at, lane);
      });
  }

  /** Nothing is checked, and nothing counted, where no lane is active. */
  private underMask(body: () => void): void {
    const { f, v } = this;
    if (!v.isMasked) {
      this.active = { bits: undefined };
      body();
      return;
    }
    const bits = v.activeBits();
    this.active = { bits };
    f.get(bits).if();
    body();
    f.end();
  }

  // --- loads ---

  private load(access: ChunkAccess, isUniform: boolean): void {
    const { f, addresses, active } = this;
    if (isUniform) {
      this.broadcast(access);
      return;
    }
    addresses.countStatic(access, active);
    const move = this.moveOf(access);
    const take = (part: Part): void => this.assign(access, part);
    const bundle = this.bundleOf(access, move);
    if (bundle === undefined) {
      this.loadAlone(access, move, take);
      return;
    }
    const keep = (part: Part): void => {
      f.set(this.partLocal(part));
    };
    const at = this.v.temporary(`bundle ${bundle.index}`, 'i32');
    const isChecked = this.v.temporary(`bundle ${bundle.index} is checked`, 'i32');
    if (bundle.first === access.instruction.index) {
      addresses.pushSpan(access, bundle.least, bundle.most, at);
      f.op('i32Eqz');
      if (access.stride === undefined) {
        addresses.pushIsBeside(access);
        f.op('i32And');
      }
      f.set(isChecked);
    }
    f.get(isChecked).if();
    loadWhole(f, move, at, keep, access.address.offset - bundle.least);
    f.else();
    this.loadAlone({ ...access, isLikelyBeside: false }, move, keep);
    f.end();
    eachPart(move, (part) => {
      f.get(this.partLocal(part));
      take(part);
    });
  }

  /** @param take takes each part from the stack */
  private loadAlone(access: ChunkAccess, move: LaneMove, take: (part: Part) => void): void {
    const { f, addresses, active } = this;
    const keep = (part: Part): void => {
      f.set(this.partLocal(part));
    };
    if (access.stride === undefined) {
      const beside = this.isBeside(access, move);
      if (beside === undefined) {
        addresses.pushVarying(access, active);
        f.if();
        addresses.reachLanes(access, active);
        addresses.pointLanesAtArea(access);
        f.end();
        loadLanes(f, move, this.anywhere(), take);
        return;
      }
      f.get(beside).if('i32');
      addresses.pushStrided({ ...access, stride: access.bytes }, active);
      f.else();
      addresses.pushVarying(access, active);
      f.end().if();
      addresses.reachLanes(access, active);
      addresses.pointAtArea();
      f.i32(1).set(beside).end();
      f.get(beside).if();
      loadWhole(f, move, addresses.first, keep);
      f.else();
      loadLanes(f, move, this.anywhere(), keep);
      f.end();
    } else {
      const stride = addresses.strideInMemory(access);
      addresses.pushStrided(access, active);
      f.if();
      addresses.reachLanes(access, active);
      addresses.pointAtArea();
      if (this.isWhole(access, move)) {
        f.end();
        loadWhole(f, move, addresses.first, take);
        return;
      }
      if (movesWhole(move)) loadWhole(f, move, addresses.first, keep);
      else loadLanes(f, move, this.besideOne(access.bytes), keep);
      f.else();
      loadLanes(f, move, this.besideOne(stride), keep);
      f.end();
    }
    eachPart(move, (part) => {
      f.get(this.partLocal(part));
      take(part);
    });
  }

  /** The bundle of an access whose lanes lie side by side, or are likely to. */
  private bundleOf(access: ChunkAccess, move: LaneMove): AccessBundle | undefined {
    const { joinsNeighbours, bundlesLoads } = this.around;
    if (this.active.bits !== undefined || !joinsNeighbours || !bundlesLoads || !movesWhole(move))
      return undefined;
    const isBeside = access.stride === undefined ? access.isLikelyBeside : access.stride === access.bytes;
    return isBeside ? this.bundles.get(access.instruction.index) : undefined;
  }

  /** Of varying addresses that are likely to lie side by side: a local that tells whether they do. */
  private isBeside(access: ChunkAccess, move: LaneMove): number | undefined {
    if (!access.isLikelyBeside || !movesWhole(move) || !this.around.joinsNeighbours) return undefined;
    const beside = this.v.temporary('side by side', 'i32');
    this.addresses.pushIsBeside(access);
    this.f.set(beside);
    return beside;
  }

  /** One load for all lanes. */
  private broadcast(access: ChunkAccess): void {
    const { f, v } = this;
    const { instruction, address, type, elements } = access;
    const at = this.addresses.first;
    const base = this.uniform.push(instruction, address);
    const bytes = elementBytes(type);
    f.set(at);
    elements.forEach((element, index) => {
      const offset = base + index * bytes;
      const view = this.viewOf(access, element);
      f.get(at);
      if (element?.kind === 'register' && v.shapeOf(element).kind === 'uniform') {
        f.memory(loadName(view), offset);
        v.scalar.assign(element, view);
        return;
      }
      if (bytes >= 4) f.simdMemory(bytes === 8 ? 'v128Load64Splat' : 'v128Load32Splat', offset);
      else f.memory(loadName(view), offset).simd('i32x4Splat');
      const all = v.temporary('all lanes', 'v128');
      f.set(all);
      eachPart({ ...this.moveOf(access), count: 1 }, ({ group, half }) => {
        f.get(all);
        v.assign(element, view, group, half);
      });
    });
  }

  // --- stores ---

  private store(access: ChunkAccess, isUniform: boolean): void {
    const { f, v, addresses, active } = this;
    const isSame = access.elements.every((element) => v.shapeOf(element).kind === 'uniform');
    if (isUniform && (isSame || active.bits === undefined)) {
      this.storeOnce(access, isSame);
      return;
    }
    addresses.countStatic(access, active);
    const move = this.moveOf(access);
    const stride = access.stride === undefined ? undefined : addresses.strideInMemory(access);
    const isWhole = this.isWhole(access, move);
    const kept = (part: Part): void => {
      f.get(this.partLocal(part));
    };
    this.keepValues(access, move);
    if (isWhole) {
      const isSlow = v.temporary('lane by lane', 'i32');
      addresses.pushStrided(access, active);
      f.tee(isSlow).if();
      addresses.pointAtArea();
      f.end();
      this.storeNeighbours(access, move, kept);
      f.get(isSlow).if();
      addresses.reachLanes(access, active);
      f.end();
      return;
    }
    if (stride === undefined) {
      const isSlow = v.temporary('lane by lane', 'i32');
      addresses.pushVarying(access, active);
      f.tee(isSlow).if();
      addresses.pointLanesAtArea(access);
      f.end();
      this.storeAll(move, this.anywhere(), kept, active);
      f.get(isSlow).if();
      addresses.reachLanes(access, active);
      f.end();
      return;
    }
    // The last active lane's value stays where all store to one address.
    if (isUniform) f.i32(1);
    else addresses.pushStrided(access, active);
    f.if();
    addresses.pointAtArea();
    this.storeAll(move, this.besideOne(access.bytes), kept, { bits: undefined });
    addresses.reachLanes(access, active);
    f.else();
    if (!isUniform) this.storeAll(move, this.besideOne(stride), kept, active);
    f.end();
  }

  /** One store for all lanes: the last one's. */
  private storeOnce(access: ChunkAccess, isSame: boolean): void {
    const { f, v } = this;
    const { instruction, address, type, elements } = access;
    const at = this.addresses.first;
    const base = this.uniform.push(instruction, address);
    f.set(at);
    elements.forEach((element, index) => {
      const view = this.viewOf(access, element);
      f.get(at);
      if (isSame) v.scalar.use(element, view, true);
      else v.useLane(element, view, v.width - 1, true);
      f.memory(storeName(view), base + index * elementBytes(type));
    });
  }

  /** Lanes side by side: groups of which every lane is active as whole vectors. */
  private storeNeighbours(access: ChunkAccess, move: LaneMove, get: (part: Part) => void): void {
    const { f, v } = this;
    const { bits } = this.active;
    const at = this.addresses.first;
    for (let group = 0; group < v.groups; group++) {
      if (bits === undefined) {
        storeWhole(f, move, at, group, get);
        continue;
      }
      const all = 15 << (4 * group);
      f.get(bits).i32(all).op('i32And').i32(all).op('i32Eq').if();
      storeWhole(f, move, at, group, get);
      f.else();
      for (let lane = 4 * group; lane < 4 * group + 4; lane++)
        this.storeOneLane(move, lane, this.besideOne(access.bytes), get, this.active);
      f.end();
    }
  }

  private storeAll(
    move: LaneMove,
    address: (lane: number) => number,
    get: (part: Part) => void,
    active: ActiveLanes,
  ): void {
    for (let lane = 0; lane < this.v.width; lane++) this.storeOneLane(move, lane, address, get, active);
  }

  private storeOneLane(
    move: LaneMove,
    lane: number,
    address: (lane: number) => number,
    get: (part: Part) => void,
    active: ActiveLanes,
  ): void {
    this.ifActive(lane, active, () => storeLane(this.f, move, lane, address, get));
  }

  private ifActive(lane: number, { bits }: ActiveLanes, body: () => void): void {
    const { f } = this;
    if (bits !== undefined)
      f.get(bits)
        .i32(1 << lane)
        .op('i32And')
        .if();
    body();
    if (bits !== undefined) f.end();
  }

  // --- addresses of lanes ---

  /** Lanes at a constant distance from `first`. */
  private besideOne(stride: number): (lane: number) => number {
    const { f, v } = this;
    const at = this.addresses.first;
    if (stride >= 0)
      return (lane) => {
        f.get(at);
        return lane * stride;
      };
    const reach = (v.width - 1) * stride;
    return (lane) => {
      f.get(at).i32(reach).op('i32Add');
      return lane * stride - reach;
    };
  }

  private anywhere(): (lane: number) => number {
    return (lane) => {
      this.f.get(this.addresses.ofGroup(lane >> 2)).simdLane('i32x4ExtractLane', lane & 3);
      return 0;
    };
  }

  // --- values ---

  /** Whether the lanes' bytes lie side by side, in a form that moves as vectors. */
  private isWhole(access: ChunkAccess, move: LaneMove): boolean {
    const { stride, bytes } = access;
    if (stride === undefined || !this.around.joinsNeighbours) return false;
    return this.addresses.strideInMemory(access) === bytes && movesWhole(move);
  }

  private moveOf({ type, elements }: ChunkAccess): LaneMove {
    const { v } = this;
    return {
      type,
      count: elements.length,
      groups: v.groups,
      temporary: (name) => v.temporary(`moved ${name}`, 'v128'),
    };
  }

  private partLocal({ element, group, half }: Part): number {
    // Asked for with each vector that moves: no name is made for it.
    const number = (element * this.v.groups + group) * 2 + half;
    return (this.parts[number] ??= this.f.local('v128'));
  }

  private viewOf({ type }: ChunkAccess, element: IrOperand | undefined): ReturnType<typeof registerView> {
    return registerView(element, type, (register) => this.v.typeOf(register));
  }

  private assign(access: ChunkAccess, { element, group, half }: Part): void {
    const operand = access.elements[element];
    this.v.assign(operand, this.viewOf(access, operand), group, half);
  }

  /** Takes the values to be stored into locals. NaNs of arithmetic are rare: all are looked at once. */
  private keepValues(access: ChunkAccess, move: LaneMove): void {
    const { f, v } = this;
    const isLoose = access.elements.map(
      (operand) =>
        operand?.kind === 'register' && this.viewOf(access, operand) === 'f32' && v.isLoose(operand.register),
    );
    eachPart(move, (part) => {
      const operand = access.elements[part.element];
      v.use(operand, this.viewOf(access, operand), part.group, part.half);
      f.set(this.partLocal(part));
    });
    if (!isLoose.includes(true)) return;
    let isFirst = true;
    eachPart(move, (part) => {
      if (isLoose[part.element] !== true) return;
      f.get(this.partLocal(part)).get(this.partLocal(part)).simd('f32x4Ne');
      if (!isFirst) f.simd('v128Or');
      isFirst = false;
    });
    f.simd('v128AnyTrue').if();
    eachPart(move, (part) => {
      if (isLoose[part.element] !== true) return;
      f.get(this.partLocal(part));
      v.canonical();
      f.set(this.partLocal(part));
    });
    f.end();
  }

  // --- counters and faults ---

  /** What scalar code for all lanes needs: it counts for each of them, and faults in the first. */
  private scalarSurroundings(): MemorySurroundings {
    const { around, f, v } = this;
    return {
      sharedLayout: around.sharedLayout,
      localLayout: around.localLayout,
      meetsInCluster: false,
      caches: around.caches,
      localBase: () => around.localBase(),
      countBytes: (what, bytes) => {
        if (typeof bytes !== 'number') throw new RangeError('bytes of a lane are a constant');
        this.addresses.count(what, bytes, this.active);
      },
      leaveWithFault: (instruction) => {
        const lane = v.temporary('failing lane', 'i32');
        const { bits } = this.active;
        if (bits === undefined) f.i32(0);
        else f.get(bits).op('i32Ctz');
        f.set(lane);
        around.leaveLaneWithFault(instruction, lane);
      },
      recordAccess: () => undefined,
      noteWrite: () => undefined,
    };
  }
}
