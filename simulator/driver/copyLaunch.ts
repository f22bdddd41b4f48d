import { copyWork, uniformWork, type DeviceProfile, type LaunchRequest } from '../gpu/index.js';
import type { CopyCommand } from './copyTraffic.js';
import type { ContextState } from './driverState.js';

/** The launch of known work that a copy or fill by SMs is. */
export function copyRequest(
  command: CopyCommand,
  context: ContextState,
  profile: DeviceProfile,
  priority: number,
): LaunchRequest {
  const isFill = command.op === 'memset';
  const bytes = command.op === 'memcpyHostToDevice' ? 0 : command.args.bytes;
  return moveRequest(isFill ? '[memset]' : '[memcpy DtoD]', bytes, context, profile, priority, isFill);
}

/** The same of bytes that no command names. */
export function moveRequest(
  kernel: string,
  bytes: number,
  context: ContextState,
  profile: DeviceProfile,
  priority: number,
  isFill = false,
): LaunchRequest {
  const { blocks, threads, registers, footprint, work } = copyWork(profile, bytes, isFill);
  return {
    context: context.id,
    module: 0,
    kernel,
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
    params: new Uint8Array(0),
    lo: 0,
    hi: blocks,
    tpcMask: -1n,
    priority,
    reportBlocks: false,
    block: footprint,
    registers,
    sharedBytes: footprint.sharedBytes,
    leadNs: 0,
    known: uniformWork(work),
  };
}
