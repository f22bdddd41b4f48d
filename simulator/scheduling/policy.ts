/** What a policy may know of a launch that has undispatched or resident blocks. */
export interface LaunchView {
  readonly id: number;
  readonly context: number;
  readonly kernel: string;
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
}

/** The device as a policy sees it between two decisions. */
export interface DeviceView {
  readonly nowNs: number;
  readonly tpcs: number;
  /** Launches that have started and are not done, in order of arrival. */
  readonly launches: readonly LaunchView[];
  /** Blocks of the launch that would fit at this moment, within its mask and, if given, this narrower one. */
  fits(launch: number, tpcMask?: bigint): number;
}

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
  /** Drop a launch's resident blocks; they are dispatched again later. */
  | { readonly kind: 'kill'; readonly launch: number };

/**
 * Decides who runs next on one device. It is asked again after each decision until it holds, and whenever a launch
 * starts, blocks end or its own time comes. Its state must be plain data, so that a device can be copied mid-run.
 */
export interface SchedulingPolicy {
  readonly name: string;
  /**
   * After it held: the launch that gets all room that comes free, until another one starts or this one has no block left. A
   * policy of which that is not true has none, and is asked whenever blocks end.
   */
  readonly nextInLine?: number;
  decide(view: DeviceView): SchedulingDecision;
  snapshot(): unknown;
  restore(state: unknown): void;
}

export class SchedulingError extends Error {
  override readonly name = 'SchedulingError';

  constructor(
    readonly code: 'unknownPolicy',
    message: string,
  ) {
    super(message);
  }
}
