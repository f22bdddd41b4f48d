import { CLUSTER_RANK_STEP, layoutLocal, layoutShared } from '../executor/index.js';
import type {
  AccessKind,
  InterpreterObserver,
  LaneAccess,
  LaneFault,
  ResolvedSpace,
  Warp,
} from '../executor/index.js';
import { count, hex, type Allocations } from './allocations.js';
import type { FindingLog } from './findingLog.js';
import type { FindingKind } from './findings.js';
import type { LaunchCode } from './launchCode.js';

/** No allocation starts below; what a null pointer with an index gives. */
const NULL_REGION_BYTES = 2 ** 16;

/**
 * Accesses that are not allowed: out of bounds, misaligned, null, freed, read-only. The lane goes on after each: loads
 * give zeros, stores and atomics change nothing, so that one run lists many. (Between chunks of the device heap they do what
 * they do on a card: reach whatever lies there.)
 */
export class Memcheck implements InterpreterObserver {
  private readonly sharedVariables: readonly (readonly [name: string, offset: number])[];
  private readonly localVariables: readonly (readonly [name: string, offset: number])[];

  constructor(
    private readonly code: LaunchCode,
    private readonly log: FindingLog,
    private readonly allocations: Allocations,
    private readonly spaceBytes: { readonly shared: number; readonly local: number; readonly param: number },
  ) {
    const { module, kernel } = code.launch;
    this.sharedVariables = byOffset(layoutShared(module.ir, kernel).offsets);
    this.localVariables = byOffset(layoutLocal(kernel).offsets);
  }

  onAccessFault(warp: Warp, pc: number, lane: number, access: LaneAccess, fault: LaneFault): boolean {
    const kind = this.kindOf(access, fault);
    if (kind === undefined) return false;
    const ended = fault.code === 'clusterBlockNotPresent' ? fault.message : undefined;
    this.add(warp, pc, lane, access, kind, ended);
    return true;
  }

  private add(
    warp: Warp,
    pc: number,
    lane: number,
    access: LaneAccess,
    kind: FindingKind,
    detail = this.describe(access, kind),
  ): void {
    const { space, bytes } = access;
    const what = { load: 'read', store: 'write', atomic: 'atomic' }[access.kind];
    const titles: Readonly<Partial<Record<FindingKind, string>>> = {
      outOfBounds: `Invalid ${space} ${what} of ${count(bytes)}`,
      nullPointer: `Invalid ${space} ${what} of ${count(bytes)} through a null pointer`,
      misaligned: `Misaligned ${space} ${what} of ${count(bytes)}`,
      readOnly: `Invalid ${space} ${what} of ${count(bytes)} to read-only memory`,
      useAfterFree: `Invalid ${space} ${what} of ${count(bytes)} after free`,
    };
    this.log.add({
      checker: 'memcheck',
      severity: 'error',
      kind,
      title: titles[kind] ?? kind,
      pc,
      ...this.code.thread(warp, lane),
      access,
      detail,
    });
  }

  /** The device heap is one allocation of the context, so what lies between its chunks is no fault of its own. */
  onAccess(
    warp: Warp,
    pc: number,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
  ): void {
    const { heap } = this.allocations;
    if (space !== 'global' || !heap.holds(address)) return;
    const chunk = heap.nearest(address);
    if (chunk !== undefined && address >= chunk.address && address + bytes <= chunk.address + chunk.bytes)
      return;
    const isFreed = heap.freedAt(address) !== undefined;
    this.add(warp, pc, lane, { space, address, bytes, kind }, isFreed ? 'useAfterFree' : 'outOfBounds');
  }

  onHeap(
    warp: Warp,
    pc: number,
    lane: number,
    what: 'malloc' | 'free',
    address: number,
    bytes: number,
  ): void {
    const { heap } = this.allocations;
    const place = this.code.thread(warp, lane);
    const thread = `thread (${place.thread.join(', ')}) of block (${place.block.join(', ')})`;
    const line = this.code.instruction(pc)?.line ?? 0;
    if (what === 'malloc') {
      if (address !== 0) heap.give({ address, bytes, name: `a heap chunk of ${thread}` });
      return;
    }
    if (address === 0) return;
    if (bytes > 0) {
      heap.takeBack(address, `given back at line ${line} by ${thread}`);
      return;
    }
    const freed = heap.freedAt(address);
    this.log.add({
      checker: 'memcheck',
      severity: 'error',
      kind: 'badFree',
      title: freed?.address === address ? 'Double free' : 'Free of what malloc did not give',
      pc,
      ...place,
      detail: `address ${this.allocations.describe(address, 1)}`,
    });
  }

  private kindOf({ space, address }: LaneAccess, { code }: LaneFault): FindingKind | undefined {
    if (code === 'misalignedAddress') return 'misaligned';
    if (code === 'writeToReadOnly') return 'readOnly';
    if (code === 'clusterBlockNotPresent' || code === 'sharedOutOfBounds' || code === 'localOutOfBounds')
      return 'outOfBounds';
    if (code !== 'illegalAddress') return undefined;
    if (space !== 'global') return 'outOfBounds';
    if (address < NULL_REGION_BYTES) return 'nullPointer';
    return this.allocations.freedAt(address) === undefined ? 'outOfBounds' : 'useAfterFree';
  }

  private describe(access: LaneAccess, kind: FindingKind): string {
    const rank = access.space === 'shared' ? Math.floor(access.address / CLUSTER_RANK_STEP) : 0;
    if (rank <= 0) return this.describePlace(access, kind);
    const there = { ...access, address: access.address % CLUSTER_RANK_STEP };
    return `of the block of rank ${rank} in the cluster, ${this.describePlace(there, kind)}`;
  }

  private describePlace({ space, address, bytes }: LaneAccess, kind: FindingKind): string {
    if (kind === 'nullPointer') return `address ${hex(address)} is null or an offset from null`;
    const multiple = kind === 'misaligned' ? `, which is no multiple of ${bytes}` : '';
    if (space === 'global') return `address ${this.allocations.describe(address, bytes)}${multiple}`;
    const whole = this.spaceBytes[space];
    const owner = {
      shared: 'the shared memory of the block',
      local: 'the local memory of the thread',
      param: 'the parameters of the kernel',
    }[space];
    const place = `${space} offset ${hex(address)}`;
    if (kind === 'misaligned') return `${place}${multiple}`;
    if (whole === 0) return `${place}: this launch has no ${space} memory`;
    const nearest = nearestVariable(
      { shared: this.sharedVariables, local: this.localVariables, param: [] }[space],
      address,
    );
    const variable = nearest === undefined ? '' : `, the nearest variable is \`${nearest}\``;
    if (address < 0) return `${place} is ${count(-address)} before the start of ${owner}${variable}`;
    if (address < whole) {
      return `${place} is inside ${owner} (${count(whole)}), but the last ${count(address + bytes - whole)} of the access are past its end${variable}`;
    }
    return `${place} is ${count(address - whole)} after the end of ${owner} (${count(whole)})${variable}`;
  }
}

function byOffset(offsets: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...offsets].sort(([, a], [, b]) => a - b);
}

function nearestVariable(
  variables: readonly (readonly [string, number])[],
  address: number,
): string | undefined {
  return (variables.findLast(([, offset]) => offset <= address) ?? variables[0])?.[0];
}
