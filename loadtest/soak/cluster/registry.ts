import { clusterWithoutTimes } from '../../../services/tests/clusterWithoutTimes.js';
import { setTimeout as after } from 'node:timers/promises';
import {
  RefusedError,
  TimeoutError,
  UnreachableError,
  type WindjammerClient,
} from '../../../services/client/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import type { Randomness } from '../randomness.js';
import type { Violations } from '../violations.js';
import type { ClusterUnderTest } from './clusterUnderTest.js';
import type { Outages } from './outages.js';

/** One change of what is registered, which may be made again where nobody knows whether it was made. */
export interface Change {
  readonly what: string;
  /** Errors that say that it was made before. */
  readonly isMade: readonly string[];
  /** Errors that pass. */
  readonly passes?: readonly string[];
  make(client: WindjammerClient): Promise<unknown>;
  isSeen(client: WindjammerClient): Promise<boolean>;
}

const RETRY_MS = 200;
const GIVEN_UP_MS = 150_000;
/** What is promised is a second, on a machine that does nothing else. */
const SEEN_WITHIN_MS = 5000;

/** Changes what is registered, through whichever frontend is there, one change after the other; all others see it soon. */
export class Registry {
  made = 0;
  /** Tries that were refused while Redis was away, or broke off. */
  refused = 0;
  slowestMs = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly cluster: ClusterUnderTest,
    private readonly random: Randomness,
    private readonly outages: Outages,
    private readonly violations: Violations,
  ) {}

  /** After those before it. @throws Error when it can be made nowhere (as a rejection) */
  change(change: Change): Promise<void> {
    const made = this.last.then(() => this.makeNow(change));
    this.last = made.catch(() => undefined);
    return made;
  }

  private async makeNow(change: Change): Promise<void> {
    const untilMs = performance.now() + GIVEN_UP_MS;
    for (let isDoubtful = false; ;) {
      const seat = this.random.of(this.cluster.living());
      const beganMs = performance.now();
      const { life } = seat;
      try {
        await change.make(this.cluster.client(seat));
        this.made += 1;
        await this.seenByAll(change, beganMs);
        return;
      } catch (error) {
        if (isDoubtful && error instanceof RefusedError && change.isMade.includes(error.code)) {
          this.made += 1;
          await this.seenByAll(change, beganMs);
          return;
        }
        const isExcused = life?.isKilled === true || this.outages.touchesRedis(seat.number, beganMs);
        const passes = error instanceof RefusedError && change.passes?.includes(error.code) === true;
        const isUnsure =
          (error instanceof RefusedError && error.status === 503) ||
          error instanceof UnreachableError ||
          error instanceof TimeoutError;
        if ((!isUnsure || !isExcused) && !passes) {
          this.violations.add('a change was refused', `${change.what} at ${seat.name}: ${reasonOf(error)}`);
        }
        if (!isUnsure && !passes) throw error;
        if (performance.now() > untilMs) throw error;
        isDoubtful ||= isUnsure;
        this.refused += 1;
      }
      await after(RETRY_MS);
    }
  }

  private async seenByAll(change: Change, beganMs: number): Promise<void> {
    const acknowledgedMs = performance.now();
    await Promise.all(
      this.cluster.living().map(async (seat) => {
        const { life } = seat;
        const isExcused = (): boolean =>
          seat.life !== life || !seat.isThere || this.outages.touchesRedis(seat.number, beganMs);
        for (;;) {
          const isSeen = await change.isSeen(this.cluster.client(seat)).catch((error: unknown) => {
            if (!isExcused())
              this.violations.add('no answer to a question', `${change.what}: ${reasonOf(error)}`);
            return false;
          });
          if (isExcused()) return;
          const tookMs = performance.now() - acknowledgedMs;
          if (isSeen) {
            this.slowestMs = Math.max(this.slowestMs, tookMs);
            return;
          }
          if (tookMs > SEEN_WITHIN_MS) {
            this.violations.add('a change was not seen', `${change.what} at ${seat.name}`);
            return;
          }
          await after(20);
        }
      }),
    );
  }
}

/** What a frontend says that there is, in one order. */
export interface Listing {
  /** What is the same as soon as it is known. */
  readonly registered: unknown;
  /** What is the same once everything has found its place. */
  readonly running: unknown;
}

/** @throws ClientError (as a rejection) */
export async function listing(client: WindjammerClient): Promise<Listing> {
  const { management } = client;
  const [applications, models, containers, keys, cluster] = await Promise.all([
    management.applications(),
    management.models(),
    management.containers(),
    management.keys(),
    management.clusterStatus(),
  ]);
  const links: Record<string, unknown> = {};
  for (const { name } of applications) links[name] = await management.linkedModels(name);
  return {
    registered: sorted({
      applications,
      links,
      keys,
      models: models.map((model) => ({
        ...model,
        // Of the replicas; a warm-up is measured by whichever frontend placed it.
        ...{ replicas_up: 0, is_serving_version: false, one_input_micros: 0, warnings: [] },
      })),
    }),
    running: sorted({
      models: models.map((model) => [
        model.model_name,
        model.model_version,
        model.is_serving_version,
        model.replicas_up,
      ]),
      containers: containers.map(({ model_name: name, model_version: version, state }) => [
        name,
        version,
        state,
      ]),
      cluster: clusterWithoutTimes(cluster),
    }),
  };
}

/** Lists in the order of their texts: that of their entries says nothing here, but for links. */
function sorted<T extends Record<string, unknown>>(lists: T): T {
  const text = (value: unknown): string => JSON.stringify(value);
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [
      name,
      Array.isArray(list) ? [...(list as unknown[])].sort((a, b) => (text(a) < text(b) ? -1 : 1)) : list,
    ]),
  ) as T;
}
