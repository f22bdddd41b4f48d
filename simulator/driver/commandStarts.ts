import type { DeviceProfile, LaunchRequest } from '../gpu/index.js';
import type { CommandChecks } from './commandChecks.js';
import type { ContextTable } from './contextTable.js';
import type { CopyEngines } from './copyEngines.js';
import { copyRequest } from './copyLaunch.js';
import { runsOnSms, type CopyCommand } from './copyTraffic.js';
import type { ContextState, PendingCommand, Predecessor } from './driverState.js';
import type { GraphRuns } from './graphRuns.js';
import type { GraphTable } from './graphTable.js';
import type { LaunchCommand } from './launchClasses.js';
import { launchClassOf } from './launchClasses.js';
import { launchLeadNs, switchNs } from './leadTimes.js';
import { queuedCommand } from './streamCommands.js';
import type { StreamSurroundings } from './streamSurroundings.js';

/** Where a started command stands: done, under way, or out of its stream and waiting for the host. */
export type Started = 'done' | 'running' | 'left';

/** What it takes to start a command whose turn it is: on the device, on a copy engine, at the front end or with the host. */
export class CommandStarts {
  constructor(
    private readonly around: StreamSurroundings,
    private readonly contexts: ContextTable,
    private readonly checks: CommandChecks,
    private readonly copies: CopyEngines,
    private readonly graphs: GraphTable,
    private readonly runs: GraphRuns,
    /** All before it in its stream is over: the host is told. */
    private readonly onSynchronised: (pending: PendingCommand, context: ContextState) => void,
  ) {}

  start(pending: PendingCommand, context: ContextState, before: Predecessor, priority: number): Started {
    const command = queuedCommand(pending.command);
    const { agenda, name } = this.around;
    const profile = this.around.profiles[context.gpu];
    this.around.hazards?.starts(pending, context);
    switch (command.op) {
      case 'eventRecord': {
        const isTimed = context.events.get(command.args.event)?.timing === true;
        if (!isTimed) return 'done';
        pending.phase = 'running';
        agenda.schedule(name, agenda.nowNs() + profile.timing.eventRecordNs, 'recorded', pending.sequence);
        return 'running';
      }
      case 'eventWait':
        return 'done';
      case 'freeAsync':
        this.contexts.free(context, command.args.address);
        this.around.devices[context.gpu].forget(context.id, command.args.address);
        return 'done';
      case 'streamSynchronize':
        this.onSynchronised(pending, context);
        return 'left';
      case 'launch': {
        const { request } = pending;
        if (request === undefined) throw new Error('a launch starts that was never checked');
        const leadNs = this.leadNs(pending, profile, before);
        const isMeeting = request.cooperative === true;
        const gridWorkspace = isMeeting ? this.contexts.mapGridWorkspace(context) : undefined;
        this.launch(pending, context, request, leadNs, gridWorkspace);
        return 'running';
      }
      case 'memcpyHostToDevice':
      case 'memcpyDeviceToHost':
      case 'memcpyDeviceToDevice':
      case 'memcpyPeer':
      case 'memset':
        this.startCopy(pending, command, context, before, priority);
        return 'running';
      case 'hostFunction':
        pending.phase = 'running';
        agenda.schedule(name, agenda.nowNs() + profile.submission.noticeNs, 'calling', pending.sequence);
        return 'running';
      case 'graphLaunch': {
        const exec = this.graphs.requireExec(context, command.args.exec);
        const { lastOp, lastEndNs } = before;
        const run = {
          left: 0,
          sequences: [],
          results: [],
          lastEndNs,
          ...(lastOp === undefined ? {} : { lastOp }),
        };
        return this.runs.begin(pending, context, exec, run) ? 'running' : 'done';
      }
    }
  }

  private startCopy(
    pending: PendingCommand,
    command: CopyCommand,
    context: ContextState,
    before: Predecessor,
    priority: number,
  ): void {
    const { agenda, name } = this.around;
    const profile = this.around.profiles[context.gpu];
    pending.phase = 'running';
    if (runsOnSms(command, profile)) {
      const leadNs = this.leadNs(pending, profile, before);
      this.launch(pending, context, copyRequest(command, context, profile, priority), leadNs);
      return;
    }
    const waitNs = switchNs(profile, command.op, before, agenda.nowNs());
    if (waitNs > 0) agenda.schedule(name, agenda.nowNs() + waitNs, 'copyReady', pending.sequence);
    else this.copies.queue({ pending, command, context });
  }

  private launch(
    pending: PendingCommand,
    context: ContextState,
    request: LaunchRequest,
    leadNs: number,
    gridWorkspace?: number,
  ): void {
    pending.phase = 'running';
    const { recovery } = this.around;
    if (recovery !== undefined && pending.command.op === 'launch') {
      recovery.begin(pending, context, leadNs, gridWorkspace);
      return;
    }
    const { judged } = pending;
    if (judged !== undefined && judged.verdict !== request.verdict) {
      request = { ...request, verdict: judged.verdict };
    }
    this.around.devices[context.gpu].launch(request, leadNs, pending.sequence, gridWorkspace);
  }

  private leadNs({ node }: PendingCommand, profile: DeviceProfile, before: Predecessor): number {
    const place = node === undefined ? 'stream' : node.isFirst ? 'firstNode' : 'node';
    return launchLeadNs(profile, before, this.around.agenda.nowNs(), place);
  }

  /** What the device is asked for. @throws Refusal */
  requestOf(pending: PendingCommand, command: LaunchCommand, context: ContextState): LaunchRequest {
    const request = this.checks.launch(command, context);
    const launchClass = launchClassOf(command, context);
    // Nodes of graphs are submitted together and looked at one by one.
    if (pending.node !== undefined) {
      pending.judged = this.around.judge?.judge(command, context);
      this.around.recovery?.plan(pending, command, context);
    }
    return launchClass === undefined ? request : { ...request, launchClass };
  }
}
