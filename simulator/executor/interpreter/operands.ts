import type { IrFunction, IrOperand, ScalarType } from '../../ptx/index.js';
import { valueOfBits } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';
import { CLUSTER_RANK_STEP } from '../memory/index.js';
import type { Dim3, LaunchPlace } from '../types.js';
import { LaneFault } from './faults.js';
import type { RegisterFile } from './registerFile.js';
import { lanesPerWarp, registerReader, registerWriter } from './registerFile.js';

/** What stays the same for all lanes of a block. */
export interface BlockIdentity {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly blockIndex: Dim3;
  readonly warps: number;
  readonly dynamicSharedBytes: number;
  readonly totalSharedBytes: number;
  /** When and where the launch runs. */
  readonly place: LaunchPlace;
  /** Where all blocks of a cooperative launch meet; 0 without. */
  readonly gridWorkspace: number;
  /** SM that the block runs on. */
  readonly sm: number;
  /** Blocks of a cluster, the block's place among them, and whether the launch says so. */
  readonly cluster: Dim3;
  readonly clusterRank: number;
  readonly isExplicitCluster: boolean;
}

/** Where an operand is read: a lane of a warp of a block. */
export interface LaneContext {
  readonly registers: RegisterFile;
  readonly warp: number;
  readonly identity: BlockIdentity;
  /** Cycles of the card's clock; another reading gives more. */
  readClock(): number;
}

export type OperandReader = (context: LaneContext, lane: number) => Value;
export type OperandWriter = (context: LaneContext, lane: number, value: Value) => void;

/** The address that a name stands for: of its own state space, as `mov` of it gives. */
export interface SymbolAddress {
  (name: string): number | undefined;
  /** Whether the block's rank in its cluster is part of it, too: of shared variables where blocks meet in clusters. */
  readonly isRanked?: (name: string) => boolean;
}

const axes = ['x', 'y', 'z'] as const;

function axisOf(extents: Dim3, component: string): number {
  return extents[axes.findIndex((axis) => axis === component)] ?? 0;
}

/** Thread index of a lane: x runs fastest. */
export function threadOf(block: Dim3, warp: number, lane: number): Dim3 {
  const linear = warp * 32 + lane;
  return [
    linear % block[0],
    Math.floor(linear / block[0]) % block[1],
    Math.floor(linear / (block[0] * block[1])),
  ];
}

function specialReader(name: string): OperandReader {
  const [base = '', component = ''] = name.split('.');
  switch (base) {
    case 'tid':
      return ({ identity, warp }, lane) => axisOf(threadOf(identity.block, warp, lane), component);
    case 'ntid':
      return ({ identity }) => axisOf(identity.block, component);
    case 'ctaid':
      return ({ identity }) => axisOf(identity.blockIndex, component);
    case 'nctaid':
      return ({ identity }) => axisOf(identity.grid, component);
    case 'laneid':
      return (_, lane) => lane;
    case 'warpid':
      return ({ warp }) => warp;
    case 'nwarpid':
      return ({ identity }) => identity.warps;
    case 'lanemask_eq':
      return (_, lane) => 1 << lane;
    case 'lanemask_lt':
      return (_, lane) => (1 << lane) - 1;
    case 'lanemask_le':
      return (_, lane) => (1 << lane) | ((1 << lane) - 1);
    case 'lanemask_gt':
      return (_, lane) => ~((1 << lane) | ((1 << lane) - 1));
    case 'lanemask_ge':
      return (_, lane) => ~((1 << lane) - 1);
    case 'smid':
      return ({ identity }) => identity.sm;
    case 'nsmid':
      return ({ identity }) => identity.place.smCount;
    case 'gridid':
      return ({ identity }) => BigInt(identity.place.gridId ?? 0);
    case 'clock':
      return (context) => context.readClock() | 0;
    case 'clock_hi':
      return (context) => Math.floor(context.readClock() / 2 ** 32) | 0;
    case 'clock64':
      return (context) => BigInt(context.readClock());
    case 'globaltimer':
      return (context) => BigInt(readTimer(context));
    case 'globaltimer_lo':
      return (context) => readTimer(context) | 0;
    case 'globaltimer_hi':
      return (context) => Math.floor(readTimer(context) / 2 ** 32) | 0;
    case 'clusterid':
      return ({ identity: { blockIndex, cluster } }) =>
        Math.floor(axisOf(blockIndex, component) / axisOf(cluster, component));
    case 'nclusterid':
      return ({ identity: { grid, cluster } }) => axisOf(grid, component) / axisOf(cluster, component);
    case 'cluster_ctaid':
      return ({ identity: { blockIndex, cluster } }) =>
        axisOf(blockIndex, component) % axisOf(cluster, component);
    case 'cluster_ctarank':
      return ({ identity }) => identity.clusterRank;
    case 'cluster_nctaid':
      return ({ identity }) => axisOf(identity.cluster, component);
    case 'cluster_nctarank':
      return ({ identity: { cluster } }) => cluster[0] * cluster[1] * cluster[2];
    case 'is_explicit_cluster':
      return ({ identity }) => (identity.isExplicitCluster ? 1 : 0);
    case 'envreg1':
      return ({ identity }) => Math.floor(identity.gridWorkspace / 2 ** 32) | 0;
    case 'envreg2':
      return ({ identity }) => identity.gridWorkspace | 0;
    case 'dynamic_smem_size':
      return ({ identity }) => identity.dynamicSharedBytes;
    case 'total_smem_size':
      return ({ identity }) => identity.totalSharedBytes;
    default:
      if (/^(?:envreg\d+|pm\d(?:_64)?)$/.test(base)) return () => 0;
      throw new LaneFault('unsupportedInstruction', `special register %${name} is not supported`);
  }
}

/** Simulated nanoseconds, as the cycles that have passed tell them. */
function readTimer(context: LaneContext): number {
  return Math.floor(context.readClock() / context.identity.place.cyclesPerNs);
}

function constant(bits: bigint, kind: ValueKind): OperandReader {
  const value = valueOfBits(bits, kind);
  return () => value;
}

function asKind(reader: OperandReader, kind: ValueKind): OperandReader {
  return (context, lane) => valueOfBits(BigInt.asUintN(64, BigInt(reader(context, lane))), kind);
}

/** Reads a source operand as a kind. */
export function operandReader(operand: IrOperand, kind: ValueKind, symbols: SymbolAddress): OperandReader {
  switch (operand.kind) {
    case 'register': {
      const read = registerReader(operand.register, kind);
      return ({ registers }, lane) => read(registers, lane);
    }
    case 'negatedPredicate':
      return ({ registers }, lane) => (registers.predicate(operand.register, lane) ? 0 : 1);
    case 'integer': {
      const bits = (BigInt(operand.high >>> 0) << 32n) | BigInt(operand.low >>> 0);
      return kind === 'pred' ? constant(bits === 0n ? 0n : 1n, 'u32') : constant(bits, kind);
    }
    case 'float':
      return constant((BigInt(operand.high >>> 0) << 32n) | BigInt(operand.low >>> 0), kind);
    case 'special':
      return asKind(specialReader(operand.name), kind);
    case 'symbol': {
      const address = symbols(operand.name);
      if (address === undefined) {
        throw new LaneFault('unsupportedInstruction', `the address of ${operand.name} is not known`);
      }
      if (symbols.isRanked?.(operand.name) === true) {
        const own = address + operand.offset;
        return ({ identity }) => valueOfBits(BigInt(own + identity.clusterRank * CLUSTER_RANK_STEP), kind);
      }
      return constant(BigInt(address + operand.offset), kind);
    }
    case 'address':
    case 'vector':
    case 'pair':
    case 'sink':
    case 'label':
      throw new LaneFault('unsupportedInstruction', `a ${operand.kind} operand has no value`);
  }
}

/** Writes a destination operand. */
export function operandWriter(operand: IrOperand, kind: ValueKind, fn: IrFunction): OperandWriter {
  if (operand.kind === 'sink') return () => undefined;
  if (operand.kind !== 'register') {
    throw new LaneFault('unsupportedInstruction', `a ${operand.kind} operand cannot be written`);
  }
  const type: ScalarType = fn.registers[operand.register]?.type ?? 'b32';
  const write = registerWriter(operand.register, type, kind);
  return ({ registers }, lane, value) => write(registers, lane, value);
}

/** An address operand: the number that its base and offset add up to. A 32-bit base wraps at 32 bits. */
export function addressReader(
  operand: IrOperand,
  fn: IrFunction,
  symbols: SymbolAddress,
): (context: LaneContext, lane: number) => number {
  if (operand.kind !== 'address')
    throw new LaneFault('unsupportedInstruction', 'an address in brackets is missing');
  const { base, offset } = operand;
  if (base === undefined) return () => offset;
  if (typeof base === 'string') {
    const address = symbols(base);
    if (address === undefined)
      throw new LaneFault('unsupportedInstruction', `the address of ${base} is not known`);
    if (symbols.isRanked?.(base) === true)
      return ({ identity }) => address + offset + identity.clusterRank * CLUSTER_RANK_STEP;
    return () => address + offset;
  }
  const type = fn.registers[base]?.type ?? 'b64';
  if (/32$/.test(type)) {
    const read = registerReader(base, 'u32');
    return ({ registers }, lane) => (Number(read(registers, lane)) + offset) >>> 0;
  }
  const read = registerReader(base, 'u64');
  const at = base * lanesPerWarp;
  return ({ registers }, lane) => {
    const { words } = registers;
    const high = (words[2 * (at + lane) + 1] ?? 0) >>> 0;
    const address = high * 2 ** 32 + ((words[2 * (at + lane)] ?? 0) >>> 0) + offset;
    if (high < 2 ** 20 && address >= 0) return address;
    return Number(BigInt.asUintN(64, BigInt(read(registers, lane)) + BigInt(offset)));
  };
}

const WORD = 2 ** 32;

/**
 * As `addressReader`, of many lanes: false where an address is beyond what a pair of words says as a number, and then some
 * of them are not there.
 */
export function addressColumn(
  operand: IrOperand,
  fn: IrFunction,
  symbols: SymbolAddress,
): (context: LaneContext, lanes: number, into: Float64Array) => boolean {
  const read = addressReader(operand, fn, symbols);
  const base = operand.kind === 'address' ? operand.base : undefined;
  const offset = operand.kind === 'address' ? operand.offset : 0;
  if (typeof base !== 'number') {
    return (context, _lanes, into) => {
      into.fill(read(context, 0));
      return true;
    };
  }
  const isNarrow = /32$/.test(fn.registers[base]?.type ?? 'b64');
  const at = base * lanesPerWarp;
  return ({ registers: { words } }, lanes, into) => {
    if (lanes === -1 && !isNarrow) {
      for (let lane = 0; lane < lanesPerWarp; lane++) {
        const high = (words[2 * (at + lane) + 1] ?? 0) >>> 0;
        const address = high * WORD + ((words[2 * (at + lane)] ?? 0) >>> 0) + offset;
        if (high >= 2 ** 20 || address < 0) return false;
        into[lane] = address;
      }
      return true;
    }
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest);
      const low = (words[2 * (at + lane)] ?? 0) >>> 0;
      if (isNarrow) into[lane] = (low + offset) >>> 0;
      else {
        const high = (words[2 * (at + lane) + 1] ?? 0) >>> 0;
        const address = high * WORD + low + offset;
        if (high >= 2 ** 20 || address < 0) return false;
        into[lane] = address;
      }
    }
    return true;
  };
}
