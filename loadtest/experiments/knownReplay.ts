import {
  Agenda,
  GpuDevice,
  SM_RESOURCES,
  DEVICE_RESOURCES,
  profileNamed,
  type BlockWork,
  type KnownWork,
  type LaunchRecord,
  type LaunchRequest,
  type ResidentGroup,
} from '../../simulator/gpu/index.js';
import { blockAt } from '../../simulator/gpu/testing/index.js';
import { schedulingPolicy } from '../../simulator/scheduling/index.js';
import { VirtualClock } from '../../simulator/time/index.js';

const STARTS = DEVICE_RESOURCES.indexOf('starts');

export interface KnownLaunch {
  readonly stream: number;
  readonly request: LaunchRequest;
}

/** Notes what the blocks of one launch were, so that it can be launched again as known work. */
export class WorkNotes {
  private readonly works: BlockWork[] = [];
  private record: LaunchRecord | undefined;
  private firstNs = Infinity;

  note(record: LaunchRecord, group: ResidentGroup): void {
    this.record = record;
    this.firstNs = Math.min(this.firstNs, group.startNs);
    for (let place = 0; place < group.count; place++) this.works[blockAt(group, place)] = group.work;
  }

  /** @param blocksPerCycle of the card; what its blocks that came together waited for one another is not theirs */
  request(blocksPerCycle: number): LaunchRequest {
    if (this.record === undefined) throw new Error('no block was seen');
    const first = this.works.filter((work) => work.device[STARTS] === 0).length;
    const known: { untilBlock: number; work: BlockWork }[] = [];
    this.works.forEach((work, block) => {
      const last = known[known.length - 1] as { untilBlock: number; work: BlockWork } | undefined;
      if (last?.work === work) last.untilBlock = block + 1;
      else known.push({ untilBlock: block + 1, work });
    });
    const plain = known.map(({ untilBlock, work }) => ({
      untilBlock,
      work: work.device[STARTS] > 0 ? work : unramped(work, first / blocksPerCycle),
    }));
    return { ...this.record, known: plain };
  }
}

function unramped(work: BlockWork, waitCycles: number): BlockWork {
  const device = [...work.device];
  device[STARTS] = 1;
  return { ...work, device, chainCycles: work.chainCycles - waitCycles };
}

/** The same launch with blocks that take `factor` times as long. */
export function scaledLaunch(request: LaunchRequest, factor: number): LaunchRequest {
  const known: KnownWork = (request.known ?? []).map(({ untilBlock, work }) => ({
    untilBlock,
    work: {
      ...work,
      sm: SM_RESOURCES.map((_, index) => work.sm[index] * factor),
      device: DEVICE_RESOURCES.map((_, index) => (index === STARTS ? 1 : work.device[index] * factor)),
      chainCycles: work.chainCycles * factor,
      chainFixedNs: work.chainFixedNs * factor,
    },
  }));
  return { ...request, known };
}

/** Runs known launches on a device of their own, each stream's in order. @returns first start and last end of each */
export function runKnown(
  device: string,
  launches: readonly KnownLaunch[],
  pitchNs: number,
): { startNs: number; endNs: number }[] {
  const clock = new VirtualClock();
  const agenda = new Agenda(clock, 'node');
  const profile = profileNamed(device);
  const { launchOverheadNs, launchOverlapNs } = profile.timing;
  const spans = launches.map(() => ({ startNs: Infinity, endNs: 0 }));
  const running = new Map<number, number>();
  const waiting = new Map<number, number[]>();
  const start = (index: number, leadNs: number): void => {
    running.set(gpu.launch({ ...launches[index].request, leadNs }), index);
  };
  const gpu = new GpuDevice(
    profile,
    'gpu',
    agenda,
    schedulingPolicy('fifo'),
    { source: NO_CODE, fuelPerBlock: 1 },
    {
      onLaunchEnd: ({ id }) => {
        const index = running.get(id) ?? 0;
        running.delete(id);
        const queue = waiting.get(launches[index].stream);
        queue?.shift();
        if (queue !== undefined && queue.length > 0) start(queue[0], launchOverheadNs - launchOverlapNs);
      },
      onBlocksDone: () => undefined,
    },
  );
  gpu.observe({
    onBlocksLeave: ({ id }, { startNs }, _done, nowNs) => {
      const span = spans[running.get(id) ?? 0];
      span.startNs = Math.min(span.startNs, startNs);
      span.endNs = Math.max(span.endNs, nowNs);
    },
    onSettled: () => undefined,
  });
  launches.forEach(({ stream }, index) => {
    clock.run(index * pitchNs);
    const queue = waiting.get(stream) ?? [];
    waiting.set(stream, queue);
    queue.push(index);
    if (queue.length === 1) start(index, launchOverheadNs);
  });
  clock.run();
  return spans;
}

const NO_CODE = {
  executorLaunch: (): never => {
    throw new Error('launches of known work have no code');
  },
  moduleIdentity: (): string => '',
};
