import type { BlockWork } from '../timing/index.js';
import type { BlockSource } from './blockSource.js';
import type { LaunchRecord } from './launchRecord.js';
import type { ResidentGroup } from './residentGroup.js';

/** Launches that have a cost take their work from it; the others run, where there is something to run them. */
export class BlockSources implements BlockSource {
  constructor(
    private readonly costed: BlockSource,
    private readonly functional: BlockSource | undefined,
  ) {}

  chunk(record: LaunchRecord, wanted: number): number {
    return this.of(record).chunk(record, wanted);
  }

  run(
    record: LaunchRecord,
    sms: readonly number[],
    nowNs: number,
    clockHz: number,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): BlockWork | undefined {
    return this.of(record).run(record, sms, nowNs, clockHz, residentBlocks, otherFootprintBytes);
  }

  takeBack(record: LaunchRecord, groups: readonly ResidentGroup[]): void {
    this.functional?.takeBack?.(record, groups);
  }

  settle(record: LaunchRecord, group: ResidentGroup): void {
    this.functional?.settle?.(record, group);
  }

  private of({ cost, kernel }: LaunchRecord): BlockSource {
    if (cost !== undefined) return this.costed;
    if (this.functional !== undefined) return this.functional;
    throw new Error(`launch of '${kernel}' without a cost, on a device that executes nothing`);
  }
}
