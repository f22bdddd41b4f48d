import type { BlockWork } from '../timing/index.js';
import type { LaunchRecord } from './launchRecord.js';
import type { ResidentGroup } from './residentGroup.js';

/** Where the work of blocks comes from: from running them, or from what they are known to cost. */
export interface BlockSource {
  /** How many blocks the next call of `run` may take; they come out as equal. */
  chunk(record: LaunchRecord, wanted: number): number;
  /**
   * Starts the next blocks of a launch, one on each of `sms`, and counts them as dispatched. @returns the work of each, or
   * undefined on a fault, which is then in the record.
   */
  run(
    record: LaunchRecord,
    sms: readonly number[],
    nowNs: number,
    clockHz: number,
    /** Blocks of the launch that its SMs could hold together. */
    residentBlocks: number,
    /** Bytes that other running launches touch. */
    otherFootprintBytes: number,
  ): BlockWork | undefined;
  /** Blocks are killed where they are: what they would have stored from there on is as if it had never been. */
  takeBack?(record: LaunchRecord, groups: readonly ResidentGroup[]): void;
  /** Blocks have come to their end: what they stored stays. */
  settle?(record: LaunchRecord, group: ResidentGroup): void;
}
