import type { NodeMemory } from '../executor/index.js';
import type { CostLibrary, DeviceProfile, LaunchRequest } from '../gpu/index.js';
import type { ContextTable } from './contextTable.js';
import { checkCopy, type CopyCommand } from './copyTraffic.js';
import type { ContextState } from './driverState.js';
import { launchRequest } from './launchCheck.js';
import type { LaunchCommand } from './launchClasses.js';
import { LaunchCosts } from './launchCosts.js';
import { KeptRequests } from './keptRequests.js';
import { Refusal } from './refusal.js';
import type { NodeCommand } from './streamCommands.js';

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
  private readonly kept = new KeptRequests();

  constructor(
    private readonly around: CheckSurroundings,
    private readonly contexts: ContextTable,
  ) {
    this.costs = around.costs === undefined ? undefined : new LaunchCosts(around.costs);
  }

  /** @throws Refusal */
  check(command: NodeCommand, context: ContextState): void {
    switch (command.op) {
      case 'launch':
        this.launch(command, context);
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
    }
  }

  /** @returns what the device is asked for; equal launches may share it. @throws Refusal */
  launch(command: LaunchCommand, context: ContextState): LaunchRequest {
    const { args } = command;
    const stream = this.contexts.requireStream(context, command.stream);
    const module = this.contexts.requireModule(context, args.module);
    const profile = this.around.profiles[context.gpu];
    const { costs } = this;
    if (costs === undefined) return launchRequest(command, module, profile, stream.priority);
    const known = this.kept.find(command, module, profile, stream.priority);
    if (known !== undefined) return known;
    const identity = context.modules.get(args.module)?.identity ?? '';
    const request = launchRequest(command, module, profile, stream.priority, (kernel, fit) =>
      costs.costOf(module, identity, kernel, fit, args.params),
    );
    this.kept.keep(command, module, profile, request);
    return request;
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
