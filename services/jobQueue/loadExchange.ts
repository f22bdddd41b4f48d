import type { LoadElsewhere } from '../jobs/index.js';
import { RedisScript, type RedisConnection } from '../redis/index.js';
import { jobKeys } from './jobKeys.js';

/** While there are running jobs. */
const EXCHANGE_MS = 100;
const IDLE_EXCHANGE_MS = 1000;
/** What a frontend said longer ago, while jobs run, is not known of it any more. */
const FRESH_MS = 500;
/** One that says nothing for so long has died. */
const SILENT_MS = 5000;

const EXCHANGE = new RedisScript('services/jobQueue/scripts/exchangeLoads.lua');

/** What a frontend tells the others. */
export interface OwnLoad {
  applications(): Iterable<string>;
  /** Queries of an application, but for lines of jobs: without an answer, and so far. */
  interactive(application: string): { readonly inFlight: number; readonly taken: number };
  /** Applications of which lines are under way, or wait. */
  asking(): readonly string[];
}

interface Words {
  /** Applications that had queries since the last exchange, or have now. */
  readonly busy: readonly string[];
  readonly asking: readonly string[];
}

/** Of another frontend. */
interface Heard {
  /** By our clock. */
  readonly saidMs: number;
  readonly words: Words | undefined;
}

/**
 * What frontends that share their models tell each other through Redis, so that lines of jobs at one of them fill what the queries
 * of all leave, and not what its own do.
 */
export class LoadExchange implements LoadElsewhere {
  private readonly keys: readonly string[];
  private own: OwnLoad | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly taken = new Map<string, number>();
  private heard: ReadonlyMap<string, Heard> = new Map();
  private heardMs = -Infinity;
  private isStopped = false;

  /** @param prefix as of `keyPrefix` */
  constructor(
    private readonly redis: RedisConnection,
    prefix: string,
    private readonly frontend: string,
  ) {
    const { loads, running } = jobKeys(prefix);
    this.keys = [loads, running];
  }

  start(own: OwnLoad): void {
    this.own = own;
    void this.exchange(own);
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  busy(applications: ReadonlySet<string>): number {
    const freshMs = performance.now() - FRESH_MS;
    // Nothing was heard of anybody, so that this frontend may be one of many.
    if (this.own !== undefined && this.heardMs < freshMs) return 1;
    return this.count(
      ({ saidMs, words }) =>
        saidMs < freshMs || words === undefined || words.busy.some((name) => applications.has(name)),
    );
  }

  asking(applications: ReadonlySet<string>): number {
    return this.count(({ words }) => words?.asking.some((name) => applications.has(name)) === true);
  }

  private count(is: (heard: Heard) => boolean): number {
    let found = 0;
    for (const one of this.heard.values()) if (is(one)) found += 1;
    return found;
  }

  private async exchange(own: OwnLoad): Promise<void> {
    let isIdle = true;
    try {
      const askedMs = performance.now();
      const words = JSON.stringify({ busy: this.busyHere(own), asking: own.asking() } satisfies Words);
      const answer = await EXCHANGE.run(this.redis, this.keys, [this.frontend, words, SILENT_MS]);
      const [running, ...others] = answer as readonly (string | number)[];
      isIdle = running === 0;
      const heard = new Map<string, Heard>();
      for (let at = 0; at + 2 < others.length; at += 3)
        heard.set(String(others[at]), {
          saidMs: askedMs - Number(others[at + 1]),
          words: wordsOf(String(others[at + 2])),
        });
      this.heard = heard;
      this.heardMs = askedMs;
    } catch {
      // What is not heard is not known, and counts as busy.
    }
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.exchange(own), isIdle ? IDLE_EXCHANGE_MS : EXCHANGE_MS);
    this.timer.unref();
  }

  private busyHere(own: OwnLoad): readonly string[] {
    const busy: string[] = [];
    for (const name of own.applications()) {
      const { inFlight, taken } = own.interactive(name);
      if (inFlight > 0 || taken !== (this.taken.get(name) ?? 0)) busy.push(name);
      this.taken.set(name, taken);
    }
    return busy;
  }
}

/** @returns undefined for what no frontend says */
function wordsOf(text: string): Words | undefined {
  try {
    const { busy, asking } = JSON.parse(text) as { readonly busy?: unknown; readonly asking?: unknown };
    if (areNames(busy) && areNames(asking)) return { busy, asking };
  } catch {
    // Somebody else has written it.
  }
  return undefined;
}

function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
