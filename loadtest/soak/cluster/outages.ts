/** Something that was done to the cluster, from its beginning to its end. */
export interface Outage {
  readonly kind: string;
  readonly beganMs: number;
  /** Infinity while it lasts. */
  endedMs: number;
  /** Redis is away: for all frontends, or for the one of this number. */
  readonly redis?: 'all' | number | undefined;
  /** These applications may have no replica that answers until others are started. */
  readonly bare?: ReadonlySet<string> | undefined;
  /** Only one frontend is without them: for as long as it lasts, since the others use them where they are. */
  readonly bareAt?: number;
}

/** Replicas of a node that dies are answered for by others within 10 s where nothing else is done; here much else is. */
const REPLACED_WITHIN_MS = 20_000;
/** A frontend that lost Redis finds it again after a pause that has grown by then. */
const REDIS_BACK_WITHIN_MS = 8000;

/** What was done when, and what it excuses. */
export class Outages {
  private readonly all: Outage[] = [];

  begin(kind: string, of: Omit<Outage, 'kind' | 'beganMs' | 'endedMs'> = {}): Outage {
    const outage = { kind, beganMs: performance.now(), endedMs: Infinity, ...of };
    this.all.push(outage);
    return outage;
  }

  end(outage: Outage): void {
    outage.endedMs = performance.now();
  }

  /** Whether a frontend cannot be sure of Redis at some time from `fromMs` on. */
  touchesRedis(frontend: number, fromMs: number): boolean {
    return this.all.some(
      ({ redis, endedMs }) =>
        (redis === 'all' || redis === frontend) && endedMs + REDIS_BACK_WITHIN_MS >= fromMs,
    );
  }

  /** Whether queries of an application may have been without a model at a frontend, at some time from `fromMs` on. */
  excusesDefault(application: string, frontend: number, fromMs: number): boolean {
    return this.all.some(
      (outage) =>
        outage.bare?.has(application) === true &&
        (outage.bareAt === undefined || outage.bareAt === frontend) &&
        this.replacedMs(outage, frontend) >= fromMs,
    );
  }

  /** What happened lately, for people. */
  lately(): string {
    const nowMs = performance.now();
    const ago = (ms: number): string => `${((nowMs - ms) / 1000).toFixed(1)} s ago`;
    return this.all
      .filter(({ endedMs }) => nowMs - endedMs < 60_000)
      .slice(-6)
      .map(
        ({ kind, beganMs, endedMs }) =>
          `${kind} ${ago(beganMs)}${endedMs === Infinity ? '' : ` until ${ago(endedMs)}`}`,
      )
      .join(', ');
  }

  /** By then others answer: nobody places them while Redis is away, and no frontend that has lost it hears of it. */
  private replacedMs({ beganMs, endedMs, bareAt }: Outage, frontend: number): number {
    let untilMs = (bareAt === undefined ? beganMs : endedMs) + REPLACED_WITHIN_MS;
    for (const { redis, ...other } of this.all) {
      if (redis !== 'all' && redis !== frontend) continue;
      if (other.beganMs <= untilMs && other.endedMs + REDIS_BACK_WITHIN_MS >= beganMs)
        untilMs = Math.max(untilMs, other.endedMs + REDIS_BACK_WITHIN_MS + REPLACED_WITHIN_MS);
    }
    return untilMs;
  }
}
