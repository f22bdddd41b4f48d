import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type {
  LaunchClass,
  LaunchVerdict,
  PreemptionCosts,
  SchedulingPolicy,
} from '../../scheduling/index.js';
import type { ParkedBlocks } from './contextTurns.js';
import type { LaunchRecord } from './launchRecord.js';
import type { ResidentGroup } from './residentGroup.js';
import { room, type SmUse } from './smPool.js';

/** Blocks that have stopped: their SMs stay taken until all of it is over. Plain data. */
export interface LeavingBlocks extends ParkedBlocks {
  readonly kind: 'kill' | 'save';
  readonly contextBytes: number;
  readonly wastedBlockNs: number;
}

/** Sums that only grow. Plain data. */
export interface PreemptionTotals {
  kills: number;
  saves: number;
  drains: number;
  restores: number;
  /** From the decision until the SMs were free, added up. */
  killNs: number;
  saveNs: number;
  drainNs: number;
  /** Time of blocks on SMs that counts for nothing, since they ran again. */
  wastedBlockNs: number;
  /** Critical launches whose first block has been dispatched, and how long those waited from when they could have started. */
  criticalLaunches: number;
  criticalWaitNs: number;
  criticalMostWaitNs: number;
}

/** What is off the SMs, or on its way. Plain data. */
export interface PreemptionState {
  readonly leaving: Map<number, LeavingBlocks>;
  /** By launch, copied out. */
  readonly saved: Map<number, ParkedBlocks>;
  /** On their way back: their SMs are theirs already. */
  readonly restoring: Map<number, ParkedBlocks>;
  readonly totals: PreemptionTotals;
}

/** One launch was taken off the SMs. */
export interface PreemptionEvent {
  readonly kind: 'kill' | 'save' | 'drain';
  readonly launch: number;
  readonly command?: number | undefined;
  readonly context: number;
  readonly kernel: string;
  readonly launchClass?: LaunchClass | undefined;
  /** When it was decided, and when its SMs were free. */
  readonly decidedNs: number;
  readonly freeNs: number;
  readonly contextBytes: number;
  readonly wastedBlockNs: number;
}

export function emptyPreemption(): PreemptionState {
  return {
    leaving: new Map(),
    saved: new Map(),
    restoring: new Map(),
    totals: {
      kills: 0,
      saves: 0,
      drains: 0,
      restores: 0,
      killNs: 0,
      saveNs: 0,
      drainNs: 0,
      wastedBlockNs: 0,
      criticalLaunches: 0,
      criticalWaitNs: 0,
      criticalMostWaitNs: 0,
    },
  };
}

const REGISTER_BYTES = 4;

/** Registers and shared memory that a launch's resident blocks hold. */
export function contextBytes({ block, residentBlocks, contextBytes: each }: LaunchRecord): number {
  return residentBlocks * (each ?? block.registers * REGISTER_BYTES + block.sharedBytes);
}

/** How long blocks that hold so much take to be copied out, or back. */
export function saveNs({ timing }: DeviceProfile, bytes: number): number {
  return timing.saveNs + (bytes / timing.saveBytesPerSecond) * 1e9;
}

/** Whether killing it is safe and can be done. Launches that run no code have nothing to take back. */
export function canKill(record: LaunchRecord): boolean {
  return (
    record.verdict?.idempotent === true &&
    record.cooperative !== true &&
    record.mustNotKill !== true &&
    (record.isObserved === true || record.known !== undefined || record.cost !== undefined)
  );
}

/** Whether a launch's stores have to be kept, so that it can be killed or a fault can strike it. */
export function keepsStores(record: LaunchRecord, policy: SchedulingPolicy): boolean {
  const { known, cost, verdict, cooperative, faultPoint } = record;
  if (known !== undefined || cost !== undefined || cooperative === true) return false;
  if (faultPoint !== undefined) return true;
  if (policy.mayKill === undefined) return false;
  // What the kernel's analysis finds may be known before the launch has ended.
  if (verdict?.cause === 'pending') return policy.mayKill({ ...record, verdict: HOPED });
  return verdict?.idempotent === true && policy.mayKill(record);
}

const HOPED: LaunchVerdict = { idempotent: true, of: 'kernel' };

/** Whether SMs have room for all blocks of these groups, each where it was. */
export function haveRoom(
  profile: DeviceProfile,
  use: SmUse,
  groups: readonly ResidentGroup[],
  block: BlockFootprint,
): boolean {
  const need = new Map<number, number>();
  for (const { sms, perSm } of groups) for (const sm of sms) need.set(sm, (need.get(sm) ?? 0) + perSm);
  for (const [sm, blocks] of need) if (room(profile, use, sm, block) < blocks) return false;
  return true;
}

/** @param groups the device's resident ones, `asOfNs` */
export function preemptionCosts(
  profile: DeviceProfile,
  record: LaunchRecord,
  groups: readonly ResidentGroup[],
  nowNs: number,
): PreemptionCosts {
  let lostNs = 0;
  let drainNs = 0;
  for (const group of groups) {
    if (group.launch !== record.id) continue;
    lostNs = Math.max(lostNs, ranNs(group, nowNs));
    if (group.remaining > 0) drainNs = Math.max(drainNs, group.remaining / group.ratePerNs);
  }
  const bytes = contextBytes(record);
  return {
    contextBytes: bytes,
    canKill: canKill(record),
    killNs: profile.timing.killNs,
    lostNs,
    saveNs: saveNs(profile, bytes),
    drainNs,
  };
}

/** For how long a group's blocks have been on the SMs. */
export function ranNs({ startNs, parkedNs }: ResidentGroup, nowNs: number): number {
  return nowNs - startNs - parkedNs;
}

/** How much of each block a group has done. */
export function doneOf({ remaining }: ResidentGroup): number {
  return Math.min(1, Math.max(0, 1 - remaining));
}

/** The lowest number of a group's blocks. */
export function lowestBlock({ firstBlock, numbers }: ResidentGroup): number {
  if (numbers === undefined) return firstBlock;
  return numbers.reduce((lowest, block) => Math.min(lowest, block), Infinity);
}
