import type { Agenda, DeviceProfile } from '../gpu/index.js';
import type { ContextState, DriverState, HostThreadState, PendingCommand } from './driverState.js';
import type { FaultRecovery } from './faultRecovery.js';
import type { LaunchJudge } from './launchJudge.js';
import { HOST_CPU_LINK, type LinkUse, type SharedLinks } from './sharedLinks.js';
import { submissionCost } from './submissionCost.js';

/** What every command takes: of one core. */
const HOST_CORE: readonly LinkUse[] = [{ link: HOST_CPU_LINK, weight: 1 }];

/**
 * The host threads that submit commands, one a context: each command takes its CPU time on a host core after the one
 * before it, and reaches the device a doorbell later. The driver is told `submitted` and `arrived`.
 */
export class HostThreads {
  constructor(
    private readonly target: string,
    private readonly agenda: Agenda,
    private readonly links: SharedLinks,
    private readonly state: DriverState,
    private readonly profileOf: (pending: PendingCommand) => DeviceProfile,
    private readonly judge?: LaunchJudge,
    private readonly recovery?: FaultRecovery,
  ) {}

  submit(context: number, sequence: number): void {
    let thread = this.state.hostThreads.get(context);
    if (thread === undefined) this.state.hostThreads.set(context, (thread = { queue: [], busy: false }));
    thread.queue.push(sequence);
    if (!thread.busy) this.next(thread);
  }

  onSubmitted(sequence: number): void {
    const pending = this.state.pending.get(sequence);
    if (pending === undefined) return;
    const { doorbellNs } = this.profileOf(pending).submission;
    this.agenda.schedule(this.target, this.agenda.nowNs() + doorbellNs, 'arrived', sequence);
    const thread = this.state.hostThreads.get(pending.context);
    if (thread === undefined) return;
    thread.queue.shift();
    thread.busy = false;
    if (thread.queue.length > 0) this.next(thread);
    // A context's thread stays with it; others are there for their commands only.
    else if (!this.state.contexts.has(pending.context)) this.state.hostThreads.delete(pending.context);
  }

  /** The context is gone. */
  forget(context: number): void {
    if (this.state.hostThreads.get(context)?.queue.length === 0) this.state.hostThreads.delete(context);
  }

  private next(thread: HostThreadState): void {
    const pending = this.state.pending.get(thread.queue[0]);
    if (pending === undefined) return;
    thread.busy = true;
    const context = this.state.contexts.get(pending.context);
    this.links.start({
      amount:
        submissionCost(pending.command, this.profileOf(pending), context) +
        this.judgeNs(pending, context) +
        this.planNs(pending, context),
      uses: HOST_CORE,
      mostPerNs: 1,
      target: this.target,
      kind: 'submitted',
      payload: pending.sequence,
    });
  }

  /** Judges a launch. @returns what that takes of the thread */
  private judgeNs(pending: PendingCommand, context: ContextState | undefined): number {
    if (this.judge === undefined || context === undefined || pending.command.op !== 'launch') return 0;
    const judged = this.judge.judge(pending.command, context);
    if (judged === undefined) return 0;
    const { costNs, verdict, footprint } = judged;
    pending.judged = { verdict, footprint };
    return costNs;
  }

  /** Finds what is to be saved before a launch. @returns what that takes of the thread */
  private planNs(pending: PendingCommand, context: ContextState | undefined): number {
    if (this.recovery === undefined || context === undefined || pending.command.op !== 'launch') return 0;
    return this.recovery.plan(pending, pending.command, context);
  }
}
