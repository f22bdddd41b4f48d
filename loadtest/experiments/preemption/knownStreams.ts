import {
  Agenda,
  DEVICE_RESOURCES,
  GpuDevice,
  SM_RESOURCES,
  blockFootprint,
  occupancy,
  uniformWork,
  type BlockWork,
  type DeviceProfile,
  type LaunchRequest,
  type PreemptionTotals,
} from '../../../simulator/gpu/index.js';
import type { PreemptionEvent } from '../../../simulator/gpu/testing/index.js';
import {
  PreemptivePolicy,
  schedulingPolicy,
  type LaunchClass,
  type LaunchVerdict,
  type PreemptionChoice,
} from '../../../simulator/scheduling/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';

/** A kernel of which only the time and the footprint are known. */
export interface KnownKernel {
  readonly name: string;
  readonly threads: number;
  readonly registers: number;
  readonly sharedBytes: number;
  /** Blocks over those that the card holds of it at once. */
  readonly waves: number;
  /** Of one block. */
  readonly blockNs: number;
  /** Instead of whole waves. */
  readonly blocks?: number | undefined;
}

/** What a launch of a stream belongs to. */
export interface LaunchOwner {
  readonly context: number;
  readonly launchClass: LaunchClass;
  readonly verdict?: LaunchVerdict;
}

/** Who is told what becomes of launches. */
export interface StreamListener {
  /** Blocks of the stream's launch have come to their ends. */
  onBlocks?(stream: string, startNs: number): void;
  onEnd(stream: string, number: number, nowNs: number): void;
}

interface Pending {
  readonly number: number;
  readonly request: LaunchRequest;
}

/** Streams of known launches on one device under a scheduling policy, each stream's one after another. Virtual time. */
export class KnownStreams {
  readonly clock = new VirtualClock();
  readonly events: PreemptionEvent[] = [];
  private readonly device: GpuDevice;
  private readonly queues = new Map<string, Pending[]>();
  private readonly running = new Map<number, { readonly stream: string; readonly number: number }>();
  private readonly opened = new Map<string, number>();
  private submitted = 0;

  constructor(
    private readonly card: DeviceProfile,
    policy: string | PreemptionChoice,
    private readonly listener: StreamListener,
  ) {
    this.device = new GpuDevice(
      card,
      'gpu',
      new Agenda(this.clock, 'node'),
      typeof policy === 'string' ? schedulingPolicy(policy) : new PreemptivePolicy(policy),
      { source: NO_CODE, fuelPerBlock: 1 },
      { onLaunchEnd: ({ id }, nowNs) => this.onEnd(id, nowNs), onBlocksDone: () => undefined },
    );
    this.device.observe({
      onBlocksLeave: ({ id }, { startNs }, done) => {
        const stream = this.running.get(id)?.stream;
        if (done === 1 && stream !== undefined) this.listener.onBlocks?.(stream, startNs);
      },
      onSettled: () => undefined,
      onPreempted: (event) => this.events.push(event),
    });
  }

  /** @returns its number; a launch with nothing before it in its stream starts after the launch's whole overhead */
  submit(stream: string, kernel: KnownKernel, owner: LaunchOwner): number {
    const number = this.submitted++;
    const queue = this.queues.get(stream) ?? [];
    this.queues.set(stream, queue);
    if (!this.opened.has(stream)) this.opened.set(stream, this.clock.nowNs());
    queue.push({ number, request: requestOf(this.card, kernel, owner) });
    if (queue.length === 1) this.start(stream, queue[0], this.card.timing.launchOverheadNs);
    return number;
  }

  /** Launches of the stream that have not ended. */
  waiting(stream: string): number {
    return this.queues.get(stream)?.length ?? 0;
  }

  /** When the first launch of the stream was submitted. */
  openedNs(stream: string): number {
    return this.opened.get(stream) ?? NaN;
  }

  preemptions(): Readonly<PreemptionTotals> {
    return this.device.preemptions();
  }

  private start(stream: string, { number, request }: Pending, leadNs: number): void {
    this.running.set(this.device.launch({ ...request, leadNs }), { stream, number });
  }

  private onEnd(id: number, nowNs: number): void {
    const ended = this.running.get(id);
    if (ended === undefined) return;
    this.running.delete(id);
    const { stream, number } = ended;
    const queue = this.queues.get(stream) ?? [];
    queue.shift();
    const { launchOverheadNs, launchOverlapNs } = this.card.timing;
    if (queue.length > 0) this.start(stream, queue[0], launchOverheadNs - launchOverlapNs);
    this.listener.onEnd(stream, number, nowNs);
  }
}

/** Blocks of a kernel that the whole card holds at once. */
export function capacityOf(card: DeviceProfile, { threads, registers, sharedBytes }: KnownKernel): number {
  return card.sms * occupancy(card, blockFootprint(card, threads, registers, sharedBytes)).blocksPerSm;
}

/** How long copying out takes what the card holds of a kernel when it is full of it. */
export function fullSaveNs(card: DeviceProfile, kernel: KnownKernel): number {
  const block = blockFootprint(card, kernel.threads, kernel.registers, kernel.sharedBytes);
  const blocks = Math.min(capacityOf(card, kernel), kernel.blocks ?? Infinity);
  const bytes = blocks * (block.registers * 4 + block.sharedBytes);
  return card.timing.saveNs + (bytes / card.timing.saveBytesPerSecond) * 1e9;
}

function requestOf(card: DeviceProfile, kernel: KnownKernel, owner: LaunchOwner): LaunchRequest {
  const { threads, registers, sharedBytes, waves, name } = kernel;
  const block = blockFootprint(card, threads, registers, sharedBytes);
  const blocks = kernel.blocks ?? capacityOf(card, kernel) * waves;
  return {
    ...owner,
    module: 0,
    kernel: name,
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
    params: new Uint8Array(),
    lo: 0,
    hi: blocks,
    tpcMask: -1n,
    priority: 0,
    reportBlocks: false,
    block,
    registers,
    sharedBytes,
    leadNs: 0,
    known: uniformWork(waitingWork(card, kernel.blockNs, block.warps)),
  };
}

/** A block that waits for itself only: its time is the same whatever runs beside it. */
function waitingWork(card: DeviceProfile, ns: number, warps: number): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => (name === 'issue' ? 1 : 0)),
    device: DEVICE_RESOURCES.map((name) => (name === 'starts' ? 1 : 0)),
    chainCycles: (ns * card.clockHz) / 1e9,
    chainFixedNs: 0,
    warps,
  };
}

const NO_CODE = {
  executorLaunch: (): never => {
    throw new Error('launches of known work have no code');
  },
  moduleIdentity: (): string => '',
};
