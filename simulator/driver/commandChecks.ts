import type { NodeMemory } from '../executor/index.js';
import type { CostLibrary, DeviceProfile } from '../gpu/index.js';
import type { DriverCommand } from './commands.js';
import type { ContextTable } from './contextTable.js';
import { checkCopy, type CopyCommand } from './copyTraffic.js';
import type { ContextState, StoredRequest } from './driverState.js';
import { launchRequest, type LaunchCommand } from './launchCheck.js';
import { LaunchCosts } from './launchCosts.js';
import { Refusal } from './refusal.js';

/** Eleven days: behind far longer ones the clock's numbers have no room for nanoseconds. */
const LONGEST_HOST_NS = 1e15;

/** What commands are held to. */
export interface CheckSurroundings {
  readonly memory: NodeMemory;
  readonly profiles: readonly DeviceProfile[];
  readonly costs?: CostLibrary;
}

/** Holds commands to their context and its device before they wait for their turn. */
export class CommandChecks {
  private readonly costs: LaunchCosts | undefined;

  constructor(
    private readonly around: CheckSurroundings,
    private readonly contexts: ContextTable,
  ) {
    this.costs = around.costs === undefined ? undefined : new LaunchCosts(around.costs);
  }

  /** @throws Refusal */
  check(command: DriverCommand, context: ContextState): void {
    switch (command.op) {
      case 'launch':
        this.launch(command, context, 0);
        return;
      case 'memcpyHostToDevice':
      case 'memcpyDeviceToHost':
      case 'memcpyDeviceToDevice':
      case 'memcpyPeer':
      case 'memset':
        this.checkDeclared(command);
        checkCopy(command, this.contexts.space(context), this.contexts.peerSpace(command));
        return;
      case 'hostFunction':
        if (!(command.args.hostNs >= 0 && command.args.hostNs <= LONGEST_HOST_NS)) {
          throw new Refusal(
            'invalidValue',
            `hostNs: ${command.args.hostNs} is not a time, 0 to ${LONGEST_HOST_NS}`,
          );
        }
        return;
      case 'contextCreate':
      case 'contextDestroy':
      case 'eventCreate':
      case 'eventDestroy':
      case 'eventElapsed':
      case 'eventQuery':
      case 'eventRecord':
      case 'eventSynchronize':
      case 'eventWait':
      case 'free':
      case 'freeAsync':
      case 'graphAddNode':
      case 'graphCreate':
      case 'graphDestroy':
      case 'graphExecDestroy':
      case 'graphExecUpdateNode':
      case 'graphInstantiate':
      case 'graphLaunch':
      case 'malloc':
      case 'mallocAsync':
      case 'moduleLoad':
      case 'streamBeginCapture':
      case 'streamCaptureStatus':
      case 'streamCreate':
      case 'streamDestroy':
      case 'streamEndCapture':
      case 'streamQuery':
      case 'streamSynchronize':
        return;
    }
  }

  /**
   * @param sequence of the command, or of the node, that it is for
   * @returns what the device is asked for, but for when it may begin. @throws Refusal
   */
  launch(command: LaunchCommand, context: ContextState, sequence: number): StoredRequest {
    const { args } = command;
    const stream = this.contexts.requireStream(context, command.stream);
    const module = this.contexts.requireModule(context, args.module);
    const profile = this.around.profiles[context.gpu];
    const { costs } = this;
    if (costs === undefined) return launchRequest(command, sequence, module, profile, stream.priority);
    const identity = context.modules.get(args.module)?.identity ?? '';
    return launchRequest(command, sequence, module, profile, stream.priority, (kernel, fit) =>
      costs.costOf(module, identity, kernel, fit, args.params),
    );
  }

  private checkDeclared(command: CopyCommand): void {
    if (command.op !== 'memcpyHostToDevice' || command.args.declaredBytes === undefined) return;
    if (this.around.memory.isDeclaredOnly) return;
    throw new Refusal(
      'invalidValue',
      'declaredBytes: only a node in timing fidelity moves bytes without contents',
    );
  }
}
