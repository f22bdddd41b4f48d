import { usesHeap, type NodeMemory } from '../executor/index.js';
import {
  FaultDraws,
  bytesOf,
  emptyFaultTotals,
  intersection,
  runsAgainAsItIs,
  side,
  type FaultOptions,
  type FaultTotals,
  type MemoryRegions,
  type RecoveryScheme,
  type SavePlace,
} from '../faults/index.js';
import type { Agenda, DeviceProfile, GpuDevice, LaunchRecord, LaunchRequest } from '../gpu/index.js';
import type { LaunchVerdict } from '../scheduling/index.js';
import type { DriverFailure } from './commands.js';
import type { ContextTable } from './contextTable.js';
import { moveRequest } from './copyLaunch.js';
import type {
  ContextState,
  DriverState,
  JudgedLaunch,
  PendingCommand,
  RecoveredLaunch,
} from './driverState.js';
import { entryNamed } from './launchCheck.js';
import type { LaunchCommand } from './launchClasses.js';
import { launchLeadNs } from './leadTimes.js';
import { reachableMemory, writableMemory } from './reachableMemory.js';
import { failureOf } from './refusal.js';
import { SavedMemory } from './savedMemory.js';

/** Runs of one launch before it counts as one that never ends well. */
const MOST_RUNS = 4;

const NOT_ASKED: LaunchVerdict = { idempotent: false, of: 'kernel', cause: 'notAsked' };

export interface RecoverySurroundings {
  readonly name: string;
  readonly agenda: Agenda;
  readonly memory: NodeMemory;
  readonly profiles: readonly DeviceProfile[];
  readonly devices: readonly GpuDevice[];
  readonly scheme: RecoveryScheme;
  readonly faults: FaultOptions;
  readonly saveTo: SavePlace;
  /** A launch waits to run again: its memory is kept as it is. */
  readonly onStruck: (sequence: number) => void;
  /** A launch that has waited cannot start. */
  readonly onFailed: (pending: PendingCommand, context: ContextState, failure: DriverFailure) => void;
}

/**
 * Transient faults of launches, and what is done about them: a launch that is proved idempotent runs again from its start; before
 * another one begins, memory that it may overwrite is copied to where nothing reaches it, and copied back before it runs again
 * (PICKER, fault tolerance by Asymmetric Resilience). Copies are made by the SMs, in device memory, or by copy engines to the host, in the
 * launch's place in its stream.
 */
export class FaultRecovery {
  private readonly draws: FaultDraws;
  private readonly saved: SavedMemory;
  private readonly counts: NonNullable<DriverState['recovery']>;

  /** @throws FaultError `invalidFaults` */
  constructor(
    private readonly around: RecoverySurroundings,
    state: DriverState,
    private readonly contexts: ContextTable,
  ) {
    this.draws = new FaultDraws(around.faults);
    this.saved = new SavedMemory(contexts, around.memory.isDeclaredOnly, around.saveTo);
    state.recovery ??= {
      launched: around.devices.map(() => 0),
      totals: around.devices.map(() => emptyFaultTotals()),
    };
    this.counts = state.recovery;
  }

  totals(gpu: number): FaultTotals {
    return { ...this.counts.totals[gpu] };
  }

  /**
   * A launch is submitted, and has been judged where somebody does: finds what has to be saved before it begins. @returns
   * nanoseconds that this takes of the submitting thread
   */
  plan(pending: PendingCommand, command: LaunchCommand, context: ContextState): number {
    const { scheme } = this.around;
    if (scheme === 'none' || !context.modules.has(command.args.module)) return 0;
    const { judged } = pending;
    if (runsAgainAsItIs(scheme, judged?.verdict)) return 0;
    const module = this.contexts.requireModule(context, command.args.module);
    const kernel = entryNamed(module, command.args.kernel);
    if (kernel === undefined) return 0;
    pending.usesHeap = usesHeap(kernel);
    const known = scheme === 'verdicts' && judged?.footprint.isAny === false ? judged : undefined;
    const saves =
      known === undefined
        ? reachableMemory(module, kernel, command.args.params)
        : intersection(overwritten(known), writableMemory(module));
    pending.saves = saves;
    pending.judged ??= { verdict: NOT_ASKED, footprint: footprintOf(context.id, saves) };
    const { deviceCopyNs, hostCopyNs } = this.around.profiles[context.gpu].submission;
    if (bytesOf(saves) === 0) return 0;
    return this.around.saveTo === 'host' ? hostCopyNs : deviceCopyNs;
  }

  /** A launch of a kernel begins: its memory is saved where that is needed, and it runs. */
  begin(pending: PendingCommand, context: ContextState, leadNs: number, gridWorkspace?: number): void {
    const startNs = this.around.agenda.nowNs();
    const recovery: RecoveredLaunch = { step: 'running', startNs, sinceNs: startNs, runs: 0, gridWorkspace };
    pending.recovery = recovery;
    const totals = this.counts.totals[context.gpu];
    const { saves } = pending;
    if (saves === undefined) {
      this.run(pending, context, leadNs);
      return;
    }
    const bytes = bytesOf(saves);
    recovery.unprotected = this.whyUnprotected(pending, context, recovery, saves);
    if (recovery.unprotected !== undefined) totals.unprotected += 1;
    if (recovery.saved === undefined) {
      this.run(pending, context, leadNs);
      return;
    }
    totals.savedLaunches += 1;
    totals.savedBytes += bytes;
    this.move(pending, context, recovery, 'saving', leadNs);
  }

  /**
   * What the device has done for a launch is over: a copy of its memory, or a run. @returns false: the launch is over with it,
   * for good or by a fault that nothing repairs
   */
  onEnd(pending: PendingCommand, context: ContextState, record: LaunchRecord): boolean {
    const { recovery } = pending;
    if (recovery === undefined) return false;
    if (recovery.step === 'running') {
      return record.fault?.code === 'transientFault' && this.struck(pending, context, record, recovery);
    }
    this.onMoved(pending, context);
    return true;
  }

  /** Memory has been saved or restored: the launch runs. */
  onMoved(pending: PendingCommand, context: ContextState): void {
    const { recovery } = pending;
    if (recovery === undefined || context.fault !== undefined) return;
    const nowNs = this.around.agenda.nowNs();
    const totals = this.counts.totals[context.gpu];
    switch (recovery.step) {
      case 'saving':
        this.saved.save(context, recovery.saved);
        totals.saveNs += nowNs - recovery.sinceNs;
        this.runBehindCopy(pending, context, nowNs);
        return;
      case 'restoring':
        this.saved.restore(context, recovery.saved);
        totals.recoveryNs += nowNs - recovery.sinceNs;
        this.runBehindCopy(pending, context, nowNs);
        return;
      case 'running':
      case 'struck':
        throw new Error(`a copy ends of a launch that is ${recovery.step}`);
    }
  }

  /** The host has heard of a fault and has asked for the launch anew. */
  onRecover(pending: PendingCommand, context: ContextState): void {
    const { recovery } = pending;
    if (recovery === undefined || context.fault !== undefined) return;
    const profile = this.around.profiles[context.gpu];
    const nowNs = this.around.agenda.nowNs();
    const leadNs = launchLeadNs(profile, { lastEndNs: recovery.startNs }, nowNs, 'stream');
    this.counts.totals[context.gpu].recoveryNs += nowNs - recovery.sinceNs;
    if (recovery.saved !== undefined) this.move(pending, context, recovery, 'restoring', leadNs);
    else this.runOrFail(pending, context, leadNs);
  }

  /** A launch is over. */
  onOver(pending: PendingCommand): void {
    const saved = pending.recovery?.saved;
    const context = this.contexts.find(pending.context);
    if (saved !== undefined && context !== undefined) this.saved.free(context, saved);
  }

  private whyUnprotected(
    pending: PendingCommand,
    context: ContextState,
    recovery: RecoveredLaunch,
    saves: MemoryRegions,
  ): string | undefined {
    if (pending.usesHeap === true) return 'it takes memory from the device heap, of which nothing is saved';
    if (pending.overlaps === true) return OVERLAPS;
    const bytes = bytesOf(saves);
    if (bytes === 0) return undefined;
    const saved = this.saved.allocate(context, saves);
    if (saved !== undefined) {
      recovery.saved = saved;
      return undefined;
    }
    const { name } = this.around.profiles[context.gpu];
    const where = this.around.saveTo === 'host' ? 'of the host' : `of GPU ${context.gpu} (${name})`;
    return `the ${bytes} bytes that had to be saved before it did not fit into the memory ${where} beside what is allocated`;
  }

  /** @returns whether it will run again */
  private struck(
    pending: PendingCommand,
    context: ContextState,
    record: LaunchRecord,
    recovery: RecoveredLaunch,
  ): boolean {
    const { agenda, name, profiles, scheme } = this.around;
    const totals = this.counts.totals[context.gpu];
    totals.injected += 1;
    const why = this.whyLost(pending, recovery);
    if (why !== undefined && record.fault !== undefined) {
      totals.unrecovered += 1;
      record.fault = { ...record.fault, message: `${record.fault.message}; it is not run again: ${why}` };
      return false;
    }
    if (runsAgainAsItIs(scheme, pending.judged?.verdict)) totals.reexecuted += 1;
    else totals.restored += 1;
    recovery.step = 'struck';
    recovery.sinceNs = agenda.nowNs();
    this.around.onStruck(pending.sequence);
    const { noticeNs, launchNs, doorbellNs } = profiles[context.gpu].submission;
    agenda.schedule(name, agenda.nowNs() + noticeNs + launchNs + doorbellNs, 'recover', pending.sequence);
    return true;
  }

  private whyLost(pending: PendingCommand, { runs, unprotected }: RecoveredLaunch): string | undefined {
    if (this.around.scheme === 'none') return "recovery is 'none'";
    if (unprotected !== undefined) return unprotected;
    if (pending.overlaps === true) return OVERLAPS;
    return runs >= MOST_RUNS ? `faults struck ${runs} runs of it` : undefined;
  }

  private move(
    pending: PendingCommand,
    context: ContextState,
    recovery: RecoveredLaunch,
    step: 'saving' | 'restoring',
    leadNs: number,
  ): void {
    const profile = this.around.profiles[context.gpu];
    const { bytes = 0 } = recovery.saved ?? {};
    const { agenda, name: target, saveTo } = this.around;
    recovery.step = step;
    recovery.sinceNs = agenda.nowNs();
    if (saveTo === 'host') {
      const { engineSwitchNs } = profile.copies;
      agenda.schedule(target, agenda.nowNs() + engineSwitchNs, 'saveReady', pending.sequence);
      return;
    }
    const name = step === 'saving' ? '[save]' : '[restore]';
    const request = moveRequest(name, bytes, context, profile, pending.request?.priority ?? 0);
    const { launchClass } = pending.request ?? {};
    this.around.devices[context.gpu].launch({ ...request, launchClass }, leadNs, pending.sequence);
  }

  private runBehindCopy(pending: PendingCommand, context: ContextState, nowNs: number): void {
    const profile = this.around.profiles[context.gpu];
    const place = pending.node === undefined ? 'stream' : 'node';
    const lastOp = this.around.saveTo === 'host' ? 'memcpyDeviceToHost' : 'memcpyDeviceToDevice';
    const before = { lastOp, lastEndNs: nowNs } as const;
    this.runOrFail(pending, context, launchLeadNs(profile, before, nowNs, place));
  }

  private runOrFail(pending: PendingCommand, context: ContextState, leadNs: number): void {
    try {
      this.run(pending, context, leadNs);
    } catch (error) {
      this.around.onFailed(pending, context, failureOf(error));
    }
  }

  private run(pending: PendingCommand, context: ContextState, leadNs: number): void {
    const { recovery } = pending;
    if (recovery === undefined) throw new Error('a launch runs that never began');
    const request = judgedRequest(pending);
    recovery.step = 'running';
    recovery.runs += 1;
    let { gridWorkspace } = recovery;
    recovery.gridWorkspace = undefined;
    if (request.cooperative === true) gridWorkspace ??= this.contexts.mapGridWorkspace(context);
    const faultPoint = this.draws.pointOf(
      context.gpu,
      this.counts.launched[context.gpu]++,
      request.lo,
      request.hi,
    );
    const struck = faultPoint === undefined ? request : { ...request, faultPoint };
    this.around.devices[context.gpu].launch(struck, leadNs, pending.sequence, gridWorkspace);
  }
}

const OVERLAPS = 'a command beside it touches the same memory';

/** A launch as it was checked, with the verdict that was found since. */
export function judgedRequest({ request, judged }: PendingCommand): LaunchRequest {
  if (request === undefined) throw new Error('a launch starts that was never checked');
  if (judged === undefined || judged.verdict === request.verdict) return request;
  return { ...request, verdict: judged.verdict };
}

/**
 * What must be as it was when a launch runs again: what it reads and writes; of one that may go another way when it runs again, or
 * of which nobody knows, all that it writes.
 */
function overwritten({ footprint, verdict: { cause, of } }: JudgedLaunch): MemoryRegions {
  const writes = side(footprint, true);
  const goesTheSameWay = cause === 'RO' || cause === 'MO' || (cause === 'SO' && of === 'launch');
  return goesTheSameWay ? intersection(writes, side(footprint, false)) : writes;
}

function footprintOf(context: number, { lo, hi }: MemoryRegions): JudgedLaunch['footprint'] {
  return { context, isAny: false, lo, hi, isWrite: lo.map(() => true) };
}
