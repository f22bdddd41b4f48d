import { timeAfter } from '../../time/index.js';
import { linearBlock, type LaunchRecord } from './launchRecord.js';
import type { BlockEngine } from './blockEngine.js';
import { blockAt, type ResidentGroup } from './residentGroup.js';

/** So near to its moment a fault is due: time has no finer grain where a run is long. */
const TOGETHER_NS = 1;
const TOGETHER_SHARE = 1e-6;

/** Watches launches that are to be struck by a fault: their blocks' progress, since no moment is known beforehand. */
export class FaultWatch {
  private readonly watched = new Set<number>();

  constructor(
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private readonly engine: BlockEngine,
  ) {
    for (const record of launches.values()) this.watch(record);
  }

  get isIdle(): boolean {
    return this.watched.size === 0;
  }

  watch({ id, faultPoint }: LaunchRecord): void {
    if (faultPoint !== undefined) this.watched.add(id);
  }

  /** When the next fault strikes at the rates of this moment. */
  soonestNs(): number {
    let soonestNs = Infinity;
    for (const { group, left } of this.standing()) {
      if (group.ratePerNs > 0) soonestNs = Math.min(soonestNs, Math.max(0, left) / group.ratePerNs);
    }
    return timeAfter(this.engine.state.asOfNs, soonestNs);
  }

  /** A launch whose fault strikes now. */
  due(): LaunchRecord | undefined {
    for (const { record, group, left } of this.standing()) {
      if (left <= Math.max(TOGETHER_SHARE, group.ratePerNs * TOGETHER_NS)) return record;
    }
    return undefined;
  }

  /** Struck blocks that are on the SMs, with how much of each is left until its fault. */
  private *standing(): Generator<{
    readonly record: LaunchRecord;
    readonly group: ResidentGroup;
    readonly left: number;
  }> {
    for (const id of this.watched) {
      const record = this.launches.get(id);
      if (record?.faultPoint === undefined) {
        this.watched.delete(id);
        continue;
      }
      const { block, part } = record.faultPoint;
      const group = this.engine.state.groups.find((each) => each.launch === id && holds(each, block));
      if (group !== undefined) yield { record, group, left: group.remaining - (1 - part) };
    }
  }
}

function holds(group: ResidentGroup, block: number): boolean {
  for (let place = 0; place < group.count; place++) if (blockAt(group, place) === block) return true;
  return false;
}

/** A launch is struck: says so in its record. */
export function strike(record: LaunchRecord, nowNs: number): void {
  const { kernel, shape, faultPoint } = record;
  const block = linearBlock(shape.grid, faultPoint?.block ?? 0);
  record.phase = 'faulted';
  record.endNs = nowNs;
  record.fault = {
    code: 'transientFault',
    kernel,
    message: `a transient fault struck block (${block.join(', ')}) of '${kernel}'`,
    block,
    thread: [0, 0, 0],
    ptxFile: '',
    ptxLine: 0,
  };
}
