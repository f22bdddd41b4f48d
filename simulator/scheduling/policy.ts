/**
 * How much a launch may be made to wait: `critical` is answered before a deadline, `bestEffort` may be preempted by both others.
 * `standard`, what a launch is that nobody said anything of, lies between.
 */
export const LAUNCH_CLASSES = ['critical', 'standard', 'bestEffort'] as const;
export type LaunchClass = (typeof LAUNCH_CLASSES)[number];

/** Undefined: there is none of that name. */
export function launchClassNamed(name: string): LaunchClass | undefined {
  return LAUNCH_CLASSES.find((each) => each === name);
}

/** Whether a launch can be killed anywhere and run again from the start, as was found before it ran. Plain data. */
export interface LaunchVerdict {
  readonly idempotent: boolean;
  /** `kernel`: every launch of the kernel is, or none can be shown to be; `launch`: these arguments decide. */
  readonly of: 'kernel' | 'launch';
  /** Why it is refused: IF PE NA NC RO MO SO, or `pending` as long as the kernel is not analysed. */
  readonly cause?: string | undefined;
}

/** What a policy may know of a launch that has undispatched or resident blocks. */
export interface LaunchView {
  readonly id: number;
  readonly context: number;
  readonly kernel: string;
  /** Undefined: `standard`. */
  readonly launchClass?: LaunchClass | undefined;
  readonly priority: number;
  readonly arrivedNs: number;
  readonly lo: number;
  readonly hi: number;
  /** Next block to dispatch; `hi` when all are dispatched. */
  readonly next: number;
  readonly residentBlocks: number;
  readonly doneBlocks: number;
  /** TPCs that the launch may use, one bit each; -1n for all. */
  readonly tpcMask: bigint;
  /** Undefined: nobody asked, which counts as not idempotent. */
  readonly verdict?: LaunchVerdict | undefined;
  /** How often it was killed. */
  readonly kills: number;
  /** Blocks whose state was copied out and that wait to be restored. */
  readonly savedBlocks: number;
  /** Its resident blocks are waited for since then; undefined: they are not, or it has given blocks again. */
  readonly drainSinceNs?: number | undefined;
  /** Its blocks are on their way off the SMs or back: nothing can be decided of it. */
  readonly isMoving: boolean;
}

/** What taking a launch's resident blocks off the SMs comes to, in simulated time from now on. */
export interface PreemptionCosts {
  /** Registers and shared memory of its resident blocks. */
  readonly contextBytes: number;
  /** Whether a kill is safe and the device can do it: the launch is idempotent, and nothing that overlaps it is under way. */
  readonly canKill: boolean;
  /** Until the SMs are free after a kill. */
  readonly killNs: number;
  /** What a kill throws away: the longest time that one of its resident blocks has run. */
  readonly lostNs: number;
  /** Until the SMs are free when its state is copied out; bringing it back takes as long again. */
  readonly saveNs: number;
  /** Until its resident blocks have come to their ends, at the rates that they have now. */
  readonly drainNs: number;
}

/** The device as a policy sees it between two decisions. */
export interface DeviceView {
  readonly nowNs: number;
  readonly tpcs: number;
  /** Launches that have started and are not done, in order of arrival. */
  readonly launches: readonly LaunchView[];
  /**
   * Whether a context will have a launch here without anybody's doing: one whose overhead is under way, or one behind what the
   * device's front end does for it (an event's time stamp, a small fill).
   */
  comes(context: number): boolean;
  /** Blocks of the launch that would fit at this moment, within its mask and, if given, this narrower one. */
  fits(launch: number, tpcMask?: bigint): number;
  /** Saved blocks of the launch can come back to their SMs at this moment. */
  canRestore(launch: number): boolean;
  costs(launch: number): PreemptionCosts;
}

/** Which blocks of a killed launch run again: all of the grid, or those from the first on that had not come to its end. */
export type Replay = 'all' | 'unfinished';

export type SchedulingDecision =
  /** Dispatch up to `blocks` blocks of a launch, optionally on fewer TPCs than the launch allows. */
  | {
      readonly kind: 'dispatch';
      readonly launch: number;
      readonly blocks: number;
      readonly tpcMask?: bigint;
    }
  /** Dispatch nothing until something changes, or until `untilNs`. */
  | { readonly kind: 'hold'; readonly untilNs?: number }
  /**
   * Throw a launch's resident blocks away, with all that they hold on the SMs; what they have stored stays. They are dispatched
   * again later. Only of a launch with `canKill`.
   */
  | { readonly kind: 'kill'; readonly launch: number; readonly replay?: Replay }
  /** Stop a launch's resident blocks and copy what they hold to memory. */
  | { readonly kind: 'save'; readonly launch: number }
  /** Bring saved blocks back to where they were: they go on. */
  | { readonly kind: 'restore'; readonly launch: number }
  /** Wait for a launch's resident blocks. It only says so, for those who count: no block comes while a policy dispatches none. */
  | { readonly kind: 'drain'; readonly launch: number };

/**
 * Decides who runs next on one device. It is asked again after each decision until it holds, and whenever a launch
 * starts, blocks end or leave, or its own time comes. Its state must be plain data, so that a device can be copied mid-run.
 */
export interface SchedulingPolicy {
  readonly name: string;
  /** It kills, saves or needs verdicts: what the device and the driver prepare for it. Without it they prepare nothing. */
  readonly preempts?: boolean;
  /**
   * After it held: the launch that gets all room that comes free, until another one starts or this one has no block left. A
   * policy of which that is not true has none, and is asked whenever blocks end.
   */
  readonly nextInLine?: number | undefined;
  /** Contexts have the device in turn: it is asked once the driver has heard of ends, so that what comes behind them shows. */
  readonly takesTurns?: boolean;
  /** The last launch is gone. Until another one comes nothing is asked. */
  onIdle?(nowNs: number): void;
  decide(view: DeviceView): SchedulingDecision;
  /**
   * Whether it may ever want to kill this launch; asked once, when the launch starts. Blocks of such launches run so that their
   * stores can be taken back, which takes host time. Of one whose kernel is still analysed, as if it were idempotent. Default: no.
   */
  readonly mayKill?: ((launch: LaunchView) => boolean) | undefined;
  snapshot(): unknown;
  restore(state: unknown): void;
}

export type SchedulingErrorCode = 'unknownPolicy' | 'invalidPolicy' | 'invalidDecision';

export class SchedulingError extends Error {
  override readonly name = 'SchedulingError';

  constructor(
    readonly code: SchedulingErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
