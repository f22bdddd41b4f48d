import type { DeviceProfile } from '../gpu/index.js';
import type { DriverCommand } from './commands.js';
import { runsOnSms, sentBytes } from './copyTraffic.js';
import type { ContextState } from './driverState.js';

/** Nanoseconds of one host core that submitting the command takes, its payload's serialisation and staging included. */
export function submissionCost(
  command: DriverCommand,
  profile: DeviceProfile,
  context: ContextState | undefined,
): number {
  const costs = profile.submission;
  switch (command.op) {
    case 'contextCreate':
    case 'contextDestroy':
      return costs.contextCreateNs;
    case 'moduleLoad':
      return costs.moduleBaseNs + costs.moduleNsPerByte * command.args.ptx.length;
    case 'malloc':
    case 'mallocAsync':
      return costs.allocateNs + pages(movable(command.args.bytes, profile)) * costs.mapNsPerPage;
    case 'free':
      return costs.freeNs + pages(context?.allocations.get(command.args.address) ?? 0) * costs.unmapNsPerPage;
    case 'launch':
      return costs.launchNs + costs.payloadNsPerByte * command.args.params.length;
    case 'memcpyHostToDevice':
      return command.args.pinned
        ? costs.hostCopyNs
        : costs.pageableCopyNs + stagingNs(movable(sentBytes(command), profile), profile);
    case 'memcpyDeviceToHost':
    case 'memcpyPeer':
      return costs.hostCopyNs;
    case 'memcpyDeviceToDevice':
      return costs.deviceCopyNs;
    case 'memset':
      return runsOnSms(command, profile) ? costs.fillNs : costs.inlineFillNs;
    case 'streamCreate':
    case 'streamDestroy':
      return costs.streamCreateNs;
    case 'graphInstantiate':
      return (
        costs.graphInstantiateNs +
        costs.graphInstantiateNsPerNode * (context?.graphs.get(command.args.graph)?.length ?? 0)
      );
    case 'graphLaunch': {
      const exec = context?.graphExecs.get(command.args.exec);
      const uploadNs = exec?.uploaded === false ? costs.graphUploadNsPerNode * exec.nodes.length : 0;
      return costs.graphLaunchNs + uploadNs;
    }
    case 'eventRecord':
      return costs.eventRecordNs;
    case 'streamSynchronize':
    case 'eventSynchronize':
    case 'eventQuery':
    case 'eventWait':
    case 'streamQuery':
      return costs.queryNs;
    case 'eventCreate':
    case 'eventDestroy':
    case 'eventElapsed':
    case 'freeAsync':
    case 'graphAddNode':
    case 'objectCreate':
    case 'objectDestroy':
    case 'graphCreate':
    case 'graphDestroy':
    case 'graphExecDestroy':
    case 'graphExecUpdateNode':
    case 'hostFunction':
    case 'streamBeginCapture':
    case 'streamCaptureStatus':
    case 'streamEndCapture':
      return costs.commandNs;
  }
}

/** Bytes that a card can have; of any other number the command will be refused, and nothing is mapped or staged. */
function movable(bytes: number, { memory }: DeviceProfile): number {
  return bytes > 0 && bytes <= memory.declaredBytes ? bytes : 0;
}

/** Memory is mapped in pages of 2 MiB; less comes from a page that is there. */
function pages(bytes: number): number {
  return Math.floor(bytes / 2 ** 21);
}

/** A host core copies pageable memory to where the engine can read it. Much of it does not fit the host's cache. */
function stagingNs(bytes: number, { copies }: DeviceProfile): number {
  const perSecond =
    bytes > copies.hostCacheBytes ? copies.uncachedStagingBytesPerSecond : copies.stagingBytesPerSecond;
  return (bytes / perSecond) * 1e9;
}
