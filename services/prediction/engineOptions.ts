import type { SelectionPolicy } from '../../selection/index.js';
import type { Clock } from '../../simulator/time/index.js';
import {
  BATCHING_DEFAULTS,
  DEFAULT_HANG_LIMITS,
  type BatchingOptions,
  type HangLimits,
} from '../batching/index.js';
import type { ContextLimits } from '../feedback/index.js';
import type { RegistryView } from '../registry/index.js';
import type { Store } from '../store/index.js';
import type { PredictionObserver } from './observer.js';
import type { VersionTrialOptions } from './versionTrial.js';

export interface ContextOptions {
  /** States in memory, of all applications together; 64 MiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Contexts of one application in the store; a million by default. */
  readonly most?: ContextLimits['most'] | undefined;
}

export interface PredictionEngineOptions {
  readonly clock: Clock;
  readonly registry: RegistryView;
  readonly store: Store;
  /** Of every draw; the same seed and arrivals give the same selections. */
  readonly seed: number;
  readonly observer?: PredictionObserver;
  /** What is kept of contexts. */
  readonly contexts?: ContextOptions | undefined;
  /** Limit of the prediction cache; 32 MiB by default, 0 keeps nothing. */
  readonly cacheBytes?: number;
  /** Of the prediction cache's hash, 16 bytes: random and secret where strangers ask. Zeros by default. */
  readonly hashKey?: Uint8Array | undefined;
  /** Evaluations that may wait for one replica. */
  readonly maxQueued?: number;
  /** Share of the shortest objective that a batch's service may take. */
  readonly serviceShare?: number;
  /** When a replica that answers nothing counts as lost, where not by the defaults; false: never. */
  readonly hangWatchdog?: Partial<HangLimits> | false;
  /**
   * Starts a replica of a model version apart from the others, for inputs that may take down whoever is asked them, or ends it.
   * @returns whether one comes; none does unless given.
   */
  readonly requestApart?: BatchingOptions['requestApart'];
  /** Policies that are asked here in place of an application's own: where time waits for them, those from files. */
  readonly policyHere?: (application: string) => SelectionPolicy | undefined;
  /** A version that was tried beside another is to be promoted or withdrawn; nobody answers by it any more, or everybody does. */
  readonly onTrialEnded?: VersionTrialOptions['onEnded'];
  /** Queries that feedback may still name. */
  readonly recentQueries?: number;
  /** The engine's name on the clock, when a clock has more than one. */
  readonly port?: string;
}

/** @throws RangeError when an option is out of its range. */
export function batchingOptions(
  options: PredictionEngineOptions,
  observer: PredictionObserver,
): BatchingOptions {
  const serviceShare = options.serviceShare ?? BATCHING_DEFAULTS.serviceShare;
  if (!(serviceShare > 0 && serviceShare <= 1)) {
    throw new RangeError(`serviceShare must be above 0 and at most 1, not ${serviceShare}`);
  }
  const maxQueued = options.maxQueued ?? BATCHING_DEFAULTS.maxQueued;
  if (!Number.isSafeInteger(maxQueued) || maxQueued < 1) {
    throw new RangeError(`maxQueued must be a whole number above 0, not ${maxQueued}`);
  }
  const hang = hangLimits(options.hangWatchdog ?? {});
  const { clock, requestApart = () => false } = options;
  return { clock, observer, maxQueued, serviceShare, hang, requestApart };
}

function hangLimits(watchdog: Partial<HangLimits> | false): HangLimits | undefined {
  if (watchdog === false) return undefined;
  const limits = { ...DEFAULT_HANG_LIMITS, ...watchdog };
  const expect = (name: keyof HangLimits, least: number): void => {
    const value = limits[name];
    if (value >= least && value < Infinity) return;
    throw new RangeError(`hangWatchdog.${name} must be a number of at least ${least}, not ${value}`);
  };
  expect('minimumMs', 1);
  expect('sharedThreadMs', 1);
  expect('factor', 1);
  expect('firstAnswerMs', 1);
  return limits;
}
