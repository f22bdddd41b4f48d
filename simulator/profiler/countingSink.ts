import { isAccess, isBranch, isSwitch } from '../ptx/index.js';
import {
  atomicSectors,
  RequestShaper,
  SECTOR_BYTES,
  sharedAtomicCycles,
  spaceOf,
  type RequestShape,
  type TraceSink,
} from '../executor/index.js';
import type { IrFunction, IrInstruction } from '../ptx/index.js';
import { InstructionTable, METRIC_INDEX as AT } from './metrics.js';

type Kind = 'load' | 'store' | 'atomic';

const GLOBAL_METRICS = {
  load: [AT.globalLoadRequests, AT.globalLoadSectors, AT.globalLoadIdealSectors, AT.globalLoadBytes],
  store: [AT.globalStoreRequests, AT.globalStoreSectors, AT.globalStoreIdealSectors, AT.globalStoreBytes],
  atomic: [
    AT.globalAtomicRequests,
    AT.globalAtomicSectors,
    AT.globalAtomicIdealSectors,
    AT.globalAtomicBytes,
  ],
} as const;

const SHARED_METRICS = {
  load: [AT.sharedLoadRequests, AT.sharedLoadWavefronts, AT.sharedLoadIdealWavefronts, AT.sharedLoadBytes],
  store: [
    AT.sharedStoreRequests,
    AT.sharedStoreWavefronts,
    AT.sharedStoreIdealWavefronts,
    AT.sharedStoreBytes,
  ],
  atomic: [
    AT.sharedAtomicRequests,
    AT.sharedAtomicWavefronts,
    AT.sharedAtomicIdealWavefronts,
    AT.sharedAtomicBytes,
  ],
} as const;

/** Sectors and addresses that are told apart, of one kernel; beyond it no more are taken in. */
const MOST_DISTINCT = 4_000_000;
const SECTORS_PER_LINE = 4;

/** What an instruction is to the counting, worked out once. */
interface Part {
  readonly isConditional: boolean;
  readonly isTable: boolean;
  readonly isLocal: boolean;
  readonly isConstant: boolean;
}

/** Counts, instruction by instruction, what traced blocks do. */
export class CountingSink implements TraceSink {
  readonly table: InstructionTable;
  /** Blocks that started, and barriers that opened in them. */
  blocks = 0;
  barriers = 0;
  threadInstructions = 0;
  full = false;
  /** Some sectors or addresses were left out of the distinct ones. */
  isDistinctPartial = false;
  private readonly parts: readonly Part[];
  private readonly shaper = new RequestShaper();
  private readonly touched: (Set<number> | undefined)[] = [];
  private readonly addresses: (Map<number, number> | undefined)[] = [];
  private distinct = 0;
  private readonly inWarp = new Float64Array(32);
  private limit = Infinity;

  constructor(
    kernel: IrFunction,
    private readonly onProgress?: (threadInstructions: number, blocks: number) => void,
  ) {
    this.table = new InstructionTable(kernel.instructions.length);
    this.parts = kernel.instructions.map(partOf);
  }

  /** Lets the sink see so many more thread-instructions; it is full after the one that reaches them. */
  allow(threadInstructions: number): void {
    this.limit = this.threadInstructions + threadInstructions;
    this.full = false;
  }

  /** Distinct sectors of global memory that an instruction touched. */
  distinctSectors(instruction: number): number {
    return this.touched[instruction]?.size ?? 0;
  }

  /** The most atomics that an instruction did on one address. */
  hottestAddress(instruction: number): number {
    let most = 0;
    for (const operations of this.addresses[instruction]?.values() ?? []) most = Math.max(most, operations);
    return most;
  }

  onBlock(): void {
    this.blocks += 1;
  }

  onBarrierOpen(): void {
    this.barriers += 1;
  }

  onInstruction(_warp: number, index: number, activeMask: number, lanes: number): void {
    const { table } = this;
    const part = this.parts[index];
    const came = bitCount(lanes);
    table.add(index, AT.warpInstructions, 1);
    table.add(index, AT.threadInstructions, came);
    table.add(index, AT.activeThreads, activeMask === lanes ? came : bitCount(activeMask));
    if (part.isConditional) table.add(index, branchMetric(activeMask, lanes), 1);
    else if (part.isTable) table.add(index, AT.branchesTaken, 1);
    if (part.isLocal && activeMask !== 0) table.add(index, AT.localRequests, 1);
    const before = this.threadInstructions;
    this.threadInstructions = before + came;
    if (this.threadInstructions >= this.limit) this.full = true;
    if (this.onProgress !== undefined && before >>> 18 !== this.threadInstructions >>> 18)
      this.onProgress(this.threadInstructions, this.blocks);
  }

  onDivergence(_warp: number, index: number): void {
    // A branch on a predicate has been counted by its masks.
    if (!this.parts[index].isTable) return;
    this.table.add(index, AT.branchesTaken, -1);
    this.table.add(index, AT.branchesSplit, 1);
  }

  onAccess(
    _warp: number,
    index: number,
    space: 'global' | 'shared',
    kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { table } = this;
    if (this.parts[index].isConstant) {
      table.add(index, AT.constantRequests, 1);
      table.add(index, AT.constantAddresses, this.distinctIn(activeMask, addresses));
      return;
    }
    const shape = this.shaper.take(kind, bytesPerLane, activeMask, addresses);
    const lanes = bitCount(activeMask);
    const bytes = lanes * bytesPerLane;
    if (space === 'shared') {
      const [requests, wavefronts, ideal, asked] = SHARED_METRICS[kind];
      table.add(index, requests, 1);
      table.add(
        index,
        wavefronts,
        kind === 'atomic' ? sharedAtomicCycles(activeMask, addresses) : shape.wavefronts,
      );
      table.add(index, ideal, kind === 'atomic' ? 1 : shape.parts);
      table.add(index, asked, bytes);
    } else {
      const [requests, sectors, ideal, asked] = GLOBAL_METRICS[kind];
      const touched = kind === 'atomic' ? atomicSectors(activeMask, addresses) : shape.sectors;
      table.add(index, requests, 1);
      table.add(index, sectors, touched);
      // Lanes that share their bytes need fewer sectors than bytes side by side would.
      table.add(index, ideal, Math.min(touched, Math.ceil(bytes / SECTOR_BYTES)));
      table.add(index, asked, bytes);
      this.remember(index, shape);
    }
    if (kind !== 'atomic') return;
    table.add(index, AT.atomicOperations, lanes);
    table.add(index, AT.atomicCollisions, lanes - this.distinctIn(activeMask, addresses));
    // Shared addresses of different blocks are different places.
    if (space === 'global') this.rememberAtomics(index, activeMask, addresses);
  }

  private remember(index: number, shape: RequestShape): void {
    const touched = (this.touched[index] ??= new Set<number>());
    for (let line = 0; line < shape.lines; line++) {
      const first = shape.lineNumbers[line] * SECTORS_PER_LINE;
      for (let sector = 0; sector < SECTORS_PER_LINE; sector++) {
        if (((shape.sectorMasks[line] >> sector) & 1) === 0 || touched.has(first + sector)) continue;
        if (!this.takesDistinct()) return;
        touched.add(first + sector);
      }
    }
  }

  private rememberAtomics(index: number, activeMask: number, addresses: Float64Array): void {
    const counted = (this.addresses[index] ??= new Map<number, number>());
    for (let rest = activeMask; rest !== 0; rest &= rest - 1) {
      const address = addresses[31 - Math.clz32(rest & -rest)];
      const before = counted.get(address);
      if (before === undefined && !this.takesDistinct()) return;
      counted.set(address, (before ?? 0) + 1);
    }
  }

  private takesDistinct(): boolean {
    if (this.distinct >= MOST_DISTINCT) {
      this.isDistinctPartial = true;
      return false;
    }
    this.distinct += 1;
    return true;
  }

  private distinctIn(activeMask: number, addresses: Float64Array): number {
    const { inWarp } = this;
    let found = 0;
    for (let rest = activeMask; rest !== 0; rest &= rest - 1) {
      const address = addresses[31 - Math.clz32(rest & -rest)];
      let at = 0;
      while (at < found && inWarp[at] !== address) at++;
      inWarp[at] = address;
      if (at === found) found++;
    }
    return found;
  }
}

function partOf(instruction: IrInstruction): Part {
  const { opcode, modifiers, guard } = instruction;
  const space = isAccess(opcode) ? spaceOf(modifiers) : undefined;
  return {
    isConditional: isBranch(opcode) && guard !== undefined,
    isTable: isSwitch(opcode),
    isLocal: space === 'local',
    isConstant: space === 'const',
  };
}

function branchMetric(activeMask: number, lanes: number): number {
  if (activeMask === lanes) return AT.branchesTaken;
  return activeMask === 0 ? AT.branchesNotTaken : AT.branchesSplit;
}

function bitCount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
