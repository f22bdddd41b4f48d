import type { CopyUsage } from '../driver/index.js';
import type { FaultTotals } from '../faults/index.js';
import type { DeviceReadings, DeviceUsage, PreemptionTotals } from '../gpu/index.js';

/** What one GPU of a node is doing and has done, in the node's own time. Plain data. */
export interface GpuReading extends Omit<DeviceUsage, 'contexts'> {
  readonly gpu: number;
  /** Device profile. */
  readonly profile: string;
  /** What its sensors show: clocks, power, energy. */
  readonly sensors: DeviceReadings;
  /** Allocated, of all contexts together. */
  readonly usedBytes: number;
  readonly copies: CopyUsage;
  /** What its scheduling policy has taken off the SMs, and how long launches of class `critical` waited. */
  readonly preemptions: PreemptionTotals;
  /** Transient faults and what came of them; undefined where none strike and none are recovered from. */
  readonly faults?: FaultTotals | undefined;
  /** Launches that have been handed to the device and have not ended. */
  readonly launches: number;
  /** Launches that have been handed to the device so far. */
  readonly launched: number;
  readonly contexts: readonly ContextReading[];
}

export interface ContextReading {
  readonly context: number;
  /** Its warps on SMs, summed over time. */
  readonly warpNs: number;
  readonly usedBytes: number;
  /** Commands in its streams, those that run among them. */
  readonly queued: number;
}
