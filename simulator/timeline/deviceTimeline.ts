import {
  DEVICE_RESOURCES,
  type DeviceObserver,
  type GpuDevice,
  type LaunchRecord,
  type ResidentGroup,
} from '../gpu/index.js';
import { CounterTrack } from './counterTrack.js';
import { Track, type TrackNumbers } from './track.js';
import type { TraceWriter } from './traceWriter.js';

const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');

/** Blocks of a launch that started together on a GPC and leave together. */
interface Leaving {
  readonly launch: LaunchRecord;
  readonly gpc: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly parkedNs: number;
  readonly sms: Set<number>;
  blocks: number;
  /** Summed over blocks. */
  done: number;
}

/**
 * One GPU's tracks: its GPCs, with the blocks that run on their SMs, and counters of the whole. What starts and ends
 * together on a GPC is one slice; a launch of uneven blocks has many.
 */
export class DeviceTimeline implements DeviceObserver {
  private readonly leaving = new Map<string, Leaving>();
  private readonly gpcOf: readonly number[];
  private readonly gpcs: readonly Track[];
  private readonly resident: CounterTrack;
  private readonly utilisation: CounterTrack;
  private readonly dram: CounterTrack;
  private readonly power: CounterTrack;
  private readonly clock: CounterTrack;

  constructor(
    private readonly device: GpuDevice,
    writer: TraceWriter,
    numbers: TrackNumbers,
    pid: number,
  ) {
    const { gpcTpcs, smsPerTpc } = device.profile;
    this.gpcOf = gpcTpcs.flatMap((tpcs, gpc) => new Array<number>(tpcs * smsPerTpc).fill(gpc));
    this.gpcs = gpcTpcs.map((_, gpc) => new Track(writer, numbers, pid, `GPC ${gpc}`, 'blocks', gpc));
    this.resident = new CounterTrack(writer, pid, 'resident');
    this.utilisation = new CounterTrack(writer, pid, 'SM utilisation %');
    this.dram = new CounterTrack(writer, pid, 'DRAM GB/s');
    this.power = new CounterTrack(writer, pid, 'power W');
    this.clock = new CounterTrack(writer, pid, 'SM clock MHz');
  }

  onBlocksLeave(launch: LaunchRecord, group: ResidentGroup, done: number, nowNs: number): void {
    const { perSm, startNs, parkedNs } = group;
    for (const sm of group.sms) {
      const gpc = this.gpcOf[sm];
      const key = `${gpc}/${launch.id}/${startNs}`;
      let slice = this.leaving.get(key);
      if (slice === undefined) {
        slice = { launch, gpc, startNs, endNs: nowNs, parkedNs, sms: new Set(), blocks: 0, done: 0 };
        this.leaving.set(key, slice);
      }
      slice.sms.add(sm);
      slice.blocks += perSm;
      slice.done += perSm * done;
    }
  }

  onSettled(nowNs: number): void {
    this.showLeaving();
    const { profile, state } = this.device;
    let blocks = 0;
    let warps = 0;
    let dramBytesPerNs = 0;
    for (const { count, work, ratePerNs } of state.engine.groups) {
      blocks += count;
      warps += count * work.warps;
      dramBytesPerNs += count * work.device[DRAM_BYTES] * ratePerNs;
    }
    this.resident.set(nowNs, { blocks, warps });
    this.utilisation.set(nowNs, { value: (100 * state.use.busySms) / profile.sms });
    this.dram.set(nowNs, { value: dramBytesPerNs });
    const { powerWatts, smClockHz } = this.device.readings();
    this.power.set(nowNs, { value: powerWatts });
    this.clock.set(nowNs, { value: smClockHz / 1e6 });
  }

  /** What is resident is shown up to now, as far as it has come. */
  end(nowNs: number): void {
    const { launches, engine, turns } = this.device.state;
    const show = (group: ResidentGroup, sinceNs: number): void => {
      const launch = launches.get(group.launch);
      const done = 1 - group.remaining + group.ratePerNs * sinceNs;
      // Below 1, whatever rounding says: they have not left.
      if (launch !== undefined)
        this.onBlocksLeave(launch, group, Math.min(0.999999, Math.max(0, done)), nowNs);
    };
    for (const group of engine.groups) show(group, nowNs - engine.asOfNs);
    for (const { groups } of turns?.parked.values() ?? []) for (const group of groups) show(group, 0);
    this.showLeaving();
    for (const counter of [this.resident, this.utilisation, this.dram, this.power, this.clock])
      counter.flush();
  }

  private showLeaving(): void {
    for (const { launch, gpc, startNs, endNs, parkedNs, blocks, sms, done } of this.leaving.values()) {
      const { context, id, kernel } = launch;
      this.gpcs[gpc].slice(kernel, startNs, endNs, {
        launch: id,
        context,
        blocks,
        sms: sms.size,
        ...(parkedNs > 0 ? { parkedUs: Math.round(parkedNs) / 1000 } : {}),
        ...(done < blocks ? { done: done / blocks } : {}),
      });
    }
    this.leaving.clear();
  }
}
