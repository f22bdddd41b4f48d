import type { DeviceProfile } from '../gpu/index.js';
import type { DriverCommand } from './commands.js';

/** Nanoseconds of one host core that submitting the command takes, its payload's serialisation included. */
export function submissionCost(command: DriverCommand, profile: DeviceProfile): number {
  const costs = profile.submission;
  switch (command.op) {
    case 'contextCreate':
    case 'contextDestroy':
      return costs.contextCreateNs;
    case 'moduleLoad':
      return costs.moduleBaseNs + costs.moduleNsPerByte * command.args.ptx.length;
    case 'malloc':
      return costs.allocateNs;
    case 'free':
      return costs.freeNs;
    case 'launch':
      return costs.launchNs + costs.payloadNsPerByte * command.args.params.length;
    case 'memcpyHostToDevice':
    case 'memcpyDeviceToHost':
    case 'memcpyDeviceToDevice':
    case 'memcpyPeer':
    case 'memset':
    case 'eventRecord':
    case 'eventWait':
    case 'streamCreate':
    case 'streamDestroy':
    case 'streamSynchronize':
      return costs.commandNs;
  }
}
