import {
  Agenda,
  DEVICE_RESOURCES,
  GpuDevice,
  SM_RESOURCES,
  blockFootprint,
  uniformWork,
  type BlockFootprint,
  type BlockWork,
  type DeviceProfile,
} from '../gpu/index.js';
import { schedulingPolicy } from '../scheduling/index.js';
import { VirtualClock } from '../time/index.js';
import type { KernelClass, KernelRow } from './kernelTable.js';
import { KernelTableError } from './kernelTableError.js';

/** Parts of a block's time that it would need alone for its chain of latencies and for what it is bound by. */
const CHAIN_SHARE: Readonly<Record<KernelClass, number>> = { compute: 0.5, memory: 0.5, unknown: 1 };
const BOUND_SHARE = 0.8;
/** Issue slots that kernels use which are not bound by arithmetic. */
const ISSUE_SHARE = 0.2;
/** How closely a row's time is met. */
const TOLERANCE_NS = 0.5;
const MOST_TRIES = 40;

/** A block that leaves no room for another on its SM, on this card. */
export function fullSmBlock(card: DeviceProfile): BlockFootprint {
  const { threadsPerBlock, sharedPerBlockBytes } = card.limits;
  return blockFootprint(card, Math.min(1024, threadsPerBlock), 1, sharedPerBlockBytes);
}

/**
 * Turns rows into work: as many blocks as the row fills SMs, each alone on its SM, of work that makes the launch take the
 * row's duration alone on the card on which it was measured. What the row is bound by decides what the work consists of,
 * and so what it contends for and how it goes on another card.
 */
export class RowWorks {
  private readonly known = new Map<string, BlockWork>();
  private readonly block: BlockFootprint;

  constructor(private readonly card: DeviceProfile) {
    this.block = fullSmBlock(card);
  }

  /** @throws KernelTableError when the row is shorter than its blocks take to start */
  of(row: KernelRow, place: string): BlockWork {
    const key = `${row.bound} ${row.sms} ${row.durationNs}`;
    let work = this.known.get(key);
    if (work === undefined) this.known.set(key, (work = this.fitted(row, place)));
    return work;
  }

  private fitted({ bound, sms, durationNs }: KernelRow, place: string): BlockWork {
    const waves = Math.ceil(sms / this.card.sms);
    let work = this.guess(bound, Math.min(sms, this.card.sms), durationNs / waves);
    let lastNs = Infinity;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const takenNs = this.durationNs(work, sms);
      if (Math.abs(takenNs - durationNs) <= TOLERANCE_NS) return work;
      if (takenNs >= lastNs && durationNs < takenNs) break;
      lastNs = takenNs;
      work = scaled(work, durationNs / takenNs);
    }
    throw new KernelTableError(
      'invalidTable',
      `${place}: column Duration: ${durationNs} ns; ${sms} blocks take longer to start on ${this.card.name}`,
    );
  }

  private guess(bound: KernelClass, resident: number, blockNs: number): BlockWork {
    const { timing, clockHz } = this.card;
    const cycles = (blockNs * clockHz) / 1e9;
    const bytes =
      bound === 'memory'
        ? BOUND_SHARE *
          Math.min(
            (blockNs * timing.dramBytesPerSecond) / 1e9 / resident,
            cycles * timing.l2PortBytesPerCycle,
          )
        : 0;
    const sm: Partial<Record<string, number>> =
      bound === 'compute'
        ? {
            float32: BOUND_SHARE * cycles * timing.float32PerCycle,
            issue: BOUND_SHARE * cycles * Math.min(timing.issuePerCycle, timing.float32PerCycle),
          }
        : { issue: ISSUE_SHARE * cycles * timing.issuePerCycle, l2Port: bytes };
    const device: Partial<Record<string, number>> = { starts: 1, l2Bytes: bytes, dramBytes: bytes };
    const chain = CHAIN_SHARE[bound] * cycles;
    return {
      sm: SM_RESOURCES.map((name) => sm[name] ?? 0),
      device: DEVICE_RESOURCES.map((name) => device[name] ?? 0),
      chainCycles: bound === 'memory' ? 0 : chain,
      chainFixedNs: bound === 'memory' ? CHAIN_SHARE[bound] * blockNs : 0,
      warps: this.block.warps,
    };
  }

  /** The launch alone on a card of its own. */
  private durationNs(work: BlockWork, blocks: number): number {
    const clock = new VirtualClock();
    let endNs = 0;
    const nothingRuns = (): never => {
      throw new Error('a kernel of a table has no code');
    };
    const device = new GpuDevice(
      this.card,
      'gpu0',
      new Agenda(clock, 'table'),
      schedulingPolicy('fifo'),
      { source: { executorLaunch: nothingRuns, moduleIdentity: nothingRuns }, fuelPerBlock: 0 },
      {
        onLaunchEnd: (_record, nowNs) => {
          endNs = nowNs;
        },
        onBlocksDone: () => undefined,
      },
    );
    device.launch({
      context: 1,
      module: 0,
      kernel: 'row',
      shape: { grid: [blocks, 1, 1], block: [this.block.threads, 1, 1], dynamicSharedBytes: 0 },
      params: new Uint8Array(0),
      lo: 0,
      hi: blocks,
      tpcMask: -1n,
      priority: 0,
      reportBlocks: false,
      block: this.block,
      registers: 1,
      sharedBytes: this.block.sharedBytes,
      leadNs: 0,
      known: uniformWork(work),
    });
    while (endNs === 0 && clock.step());
    return endNs;
  }
}

function scaled(work: BlockWork, factor: number): BlockWork {
  const starts = DEVICE_RESOURCES.indexOf('starts');
  return {
    ...work,
    sm: work.sm.map((amount) => amount * factor),
    device: work.device.map((amount, index) => (index === starts ? amount : amount * factor)),
    chainCycles: work.chainCycles * factor,
    chainFixedNs: work.chainFixedNs * factor,
  };
}
