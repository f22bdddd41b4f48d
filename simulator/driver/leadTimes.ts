import type { DeviceProfile } from '../gpu/index.js';
import type { DriverOp } from './commands.js';
import type { Predecessor } from './driverState.js';

/** Copies over the host's bus: another engine than the SMs'. */
const BUS_OPS: ReadonlySet<DriverOp | undefined> = new Set<DriverOp>([
  'memcpyHostToDevice',
  'memcpyDeviceToHost',
  'memcpyPeer',
]);

/** Where a launch stands: alone or behind others in a stream, first or later in a graph. */
export type LaunchPlace = 'stream' | 'firstNode' | 'node';

/** Wait before a launch's first block: less right behind another launch, more right behind a copy over the bus. */
export function launchLeadNs(
  { timing, copies }: DeviceProfile,
  before: Predecessor,
  nowNs: number,
  place: LaunchPlace,
): number {
  const { launchOverheadNs, launchOverlapNs, streamGapNs, graphStartNs } = timing;
  const graphNs = place === 'firstNode' ? graphStartNs : 0;
  if (BUS_OPS.has(before.lastOp)) {
    return launchOverheadNs + graphNs + leftNs(before, copies.engineSwitchNs, nowNs);
  }
  const isBehind = before.lastOp !== undefined && before.lastEndNs === nowNs;
  if (!isBehind) return launchOverheadNs + graphNs;
  const behindNs = launchOverheadNs - launchOverlapNs;
  return place === 'node' ? behindNs : Math.min(launchOverheadNs, behindNs + streamGapNs) + graphNs;
}

/** Wait before a copy over the bus that comes right behind what SMs do. */
export function switchNs(
  { copies }: DeviceProfile,
  op: DriverOp,
  before: Predecessor,
  nowNs: number,
): number {
  if (!BUS_OPS.has(op) || before.lastOp === undefined || BUS_OPS.has(before.lastOp)) return 0;
  return leftNs(before, copies.engineSwitchNs, nowNs);
}

function leftNs({ lastEndNs }: Predecessor, lengthNs: number, nowNs: number): number {
  return Math.max(0, lastEndNs + lengthNs - nowNs);
}
