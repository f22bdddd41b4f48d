import { VirtualClock } from '../../time/index.js';
import { FifoPolicy, type SchedulingPolicy } from '../../scheduling/index.js';
import {
  Agenda,
  DEVICE_RESOURCES,
  GpuDevice,
  SM_RESOURCES,
  emptyDevice,
  profileNamed,
  uniformWork,
  type BlockWork,
  type ContextSharing,
  type KnownWork,
  type LaunchRequest,
} from '../index.js';

export const H200 = profileNamed('h200');

export type Amounts = Partial<
  Record<(typeof SM_RESOURCES)[number] | (typeof DEVICE_RESOURCES)[number], number>
>;

export function blockOf(amounts: Amounts, chainCycles: number, warps = 8): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => amounts[name] ?? 0),
    device: DEVICE_RESOURCES.map((name) => amounts[name] ?? (name === 'starts' ? 1 : 0)),
    chainCycles,
    chainFixedNs: 0,
    warps,
  };
}

/** A launch of blocks that run no code, 256 threads each unless told otherwise. */
export function launchOf(
  blocks: number,
  work: BlockWork | KnownWork,
  more: Partial<LaunchRequest> & { readonly threads?: number } = {},
): LaunchRequest {
  const { threads = 256, ...given } = more;
  return {
    context: 1,
    module: 0,
    kernel: 'known',
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
    params: new Uint8Array(),
    lo: 0,
    hi: blocks,
    tpcMask: -1n,
    priority: 0,
    reportBlocks: true,
    block: { threads, warps: threads / 32, registers: threads * 32, sharedBytes: 1024 },
    registers: 32,
    sharedBytes: 1024,
    leadNs: 0,
    known: 'sm' in work ? uniformWork(work) : work,
    ...given,
  };
}

export interface BlockRun {
  readonly launch: number;
  readonly block: number;
  readonly sm: number;
  readonly startNs: number;
  readonly endNs: number;
}

/** A device by itself, with what became of its blocks and launches. */
export class KnownDevice {
  readonly clock = new VirtualClock();
  readonly agenda = new Agenda(this.clock, 'node');
  readonly gpu: GpuDevice;
  readonly blocks: BlockRun[] = [];
  readonly endsNs = new Map<number, number>();
  /** Is told of ends, as a driver is. */
  onEnd: ((launch: number, context: number, nowNs: number) => void) | undefined;

  constructor(
    sharing: ContextSharing = 'shared',
    profile = H200,
    policy: SchedulingPolicy = new FifoPolicy(),
  ) {
    this.gpu = new GpuDevice(
      profile,
      'gpu',
      this.agenda,
      policy,
      { source: { executorLaunch: noCode, moduleIdentity: () => '' }, fuelPerBlock: 1 },
      {
        onLaunchEnd: ({ id, context }, nowNs) => {
          this.endsNs.set(id, nowNs);
          this.onEnd?.(id, context, nowNs);
        },
        onBlocksDone: (reports) => this.blocks.push(...reports),
      },
      emptyDevice(profile, 0, sharing),
    );
  }

  launchAt(ns: number, request: LaunchRequest): number {
    this.clock.run(ns);
    return this.gpu.launch(request);
  }

  /** @returns when nothing was left to do */
  finish(): number {
    this.clock.run();
    return Math.max(0, ...this.endsNs.values());
  }
}

function noCode(): never {
  throw new Error('launches of known work have no code');
}
