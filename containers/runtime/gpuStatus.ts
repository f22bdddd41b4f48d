import { createHash } from 'node:crypto';
import { DEVICE_RESOURCES, SM_RESOURCES, profileNamed } from '../../simulator/gpu/index.js';
import type { GpuSpan } from './gpuHistory.js';
import type { ContextSample, GpuSample } from './gpuSample.js';
import type { ReplicaIdentity } from './replicaIdentity.js';

/** What a GPU does, in shares and rates of its own simulated time. */
export interface GpuStatus {
  readonly gpu: number;
  /** Made from the node's name and the GPU's place in it: the same in every run. */
  readonly uuid: string;
  readonly profile: string;
  /** As its maker calls it. */
  readonly productName: string;
  /** Whether the profile's times were held against a real card. */
  readonly isMeasured: boolean;
  /** Simulated time that shares and rates cover. */
  readonly spanNs: number;
  readonly smClockHz: number;
  readonly memoryClockHz: number;
  /** Why the SM clock is below the card's highest. */
  readonly throttle: GpuSample['sensors']['throttle'];
  /** On average. */
  readonly powerWatts: number;
  readonly powerLimitWatts: number;
  /** Since the GPU was made, by its own time. */
  readonly energyMillijoules: number;
  /** Time with a block on the device. */
  readonly busyShare: number;
  /** SM-time with a block. */
  readonly smActiveShare: number;
  /** Resident warps, of those that the SMs could hold. */
  readonly occupancyShare: number;
  readonly float32Share: number;
  readonly float64Share: number;
  /** Bytes moved, of what the memory could have moved by its data sheet; copies among them. */
  readonly memoryShare: number;
  readonly memoryBytesPerSecond: number;
  /** Over the host's bus, when copies end. */
  readonly toDeviceBytesPerSecond: number;
  readonly toHostBytesPerSecond: number;
  readonly totalBytes: number;
  readonly usedBytes: number;
  /** Launches on the device, those that have no block on it yet among them. */
  readonly launches: number;
  readonly contexts: readonly ContextStatus[];
  /** Since the GPU was made. */
  readonly preemptions: GpuSample['preemptions'];
  /** Undefined where no faults are injected and nothing is made ready for them. */
  readonly faults: GpuSample['faults'];
}

export interface ContextStatus {
  readonly context: number;
  readonly owner?: ReplicaIdentity;
  readonly usedBytes: number;
  /** Its part of `smActiveShare`, by resident warps. */
  readonly smShare: number;
  /** Commands in its streams. */
  readonly queued: number;
}

const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');
const FLOAT32 = SM_RESOURCES.indexOf('float32');
const FLOAT64 = SM_RESOURCES.indexOf('float64');

export function gpuStatus(node: string, { latest, earlier }: GpuSpan): GpuStatus {
  const profile = profileNamed(latest.profile);
  const { sms, limits, memory, timing } = profile;
  const { sensors } = latest;
  const since = (read: (sample: GpuSample) => number): number =>
    Math.max(0, read(latest) - (earlier === undefined ? 0 : read(earlier)));
  const spanNs = since(({ asOfNs }) => asOfNs);
  const share = (amount: number, most: number): number => (most > 0 ? Math.min(1, amount / most) : 0);
  const perSecond = (amount: number): number => (spanNs > 0 ? amount / (spanNs / 1e9) : 0);
  const smCycles = since((sample) => sample.smCycles) * sms;
  const pipeShare = (pipe: number, perCycle: number): number =>
    share(
      since(({ sm }) => sm[pipe]),
      perCycle * smCycles,
    );
  const warpNs = since((sample) => sample.warpNs);
  const memoryBytes = since(({ device, copies }) => device[DRAM_BYTES] + copies.memoryBytes);
  const smActiveShare = share(
    since(({ smBusyNs }) => smBusyNs),
    spanNs * sms,
  );
  const before = new Map(earlier?.contexts.map((context) => [context.context, context]));
  return {
    preemptions: latest.preemptions,
    faults: latest.faults,
    gpu: latest.gpu,
    uuid: uuidOf(node, latest.gpu),
    profile: latest.profile,
    productName: profile.productName,
    isMeasured: profile.measured,
    spanNs,
    smClockHz: sensors.smClockHz,
    memoryClockHz: sensors.memoryClockHz,
    throttle: sensors.throttle,
    powerWatts:
      spanNs > 0 ? since((sample) => sample.sensors.energyMillijoules) / (spanNs / 1e6) : sensors.powerWatts,
    powerLimitWatts: sensors.powerLimitWatts,
    energyMillijoules: sensors.energyMillijoules,
    busyShare: share(
      since(({ busyNs }) => busyNs),
      spanNs,
    ),
    smActiveShare,
    occupancyShare: share(warpNs, spanNs * sms * limits.warpsPerSm),
    float32Share: pipeShare(FLOAT32, timing.float32PerCycle),
    float64Share: pipeShare(FLOAT64, timing.float64PerCycle),
    memoryShare: share(memoryBytes, (memory.declaredBytesPerSecond / 1e9) * spanNs),
    memoryBytesPerSecond: perSecond(memoryBytes),
    toDeviceBytesPerSecond: perSecond(since(({ copies }) => copies.toDeviceBytes)),
    toHostBytesPerSecond: perSecond(since(({ copies }) => copies.toHostBytes)),
    totalBytes: memory.declaredBytes,
    usedBytes: latest.usedBytes,
    launches: latest.launches,
    contexts: latest.contexts.map((context) =>
      contextStatus(context, before.get(context.context), smActiveShare, warpNs),
    ),
  };
}

function contextStatus(
  { context, owner, usedBytes, queued, warpNs }: ContextSample,
  earlier: ContextSample | undefined,
  smActiveShare: number,
  allWarpNs: number,
): ContextStatus {
  const ownNs = warpNs - (earlier?.warpNs ?? 0);
  const smShare = allWarpNs > 0 ? smActiveShare * Math.min(1, ownNs / allWarpNs) : 0;
  return { context, ...(owner === undefined ? {} : { owner }), usedBytes, queued, smShare };
}

function uuidOf(node: string, gpu: number): string {
  const hex = createHash('sha256').update(`${node}/${gpu}`).digest('hex');
  // Marked as made from a hash, as RFC 9562 has it.
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `GPU-${parts.join('-')}`;
}
