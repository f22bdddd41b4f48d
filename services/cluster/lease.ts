import { RedisScript, type RedisConnection } from '../redis/index.js';

export interface LeaseOptions {
  readonly redis: RedisConnection;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
  /** What it is for. */
  readonly name: string;
  /** Who would have it. */
  readonly holder: string;
  /** For how long it holds unless it is renewed; it is renewed three times in that time. */
  readonly ttlMs: number;
  /** Told when it becomes ours (the fencing token: larger than every one before it), and when it no longer is (undefined). */
  readonly onChange: (token: number | undefined) => void;
}

const ACQUIRE = 'services/cluster/scripts/acquireLease.lua';
const RELEASE = 'services/cluster/scripts/releaseLease.lua';

/** Who holds a lease, or may hold it again soon, as Redis says. */
interface Standing {
  readonly isOurs: boolean;
  readonly token: number;
}

/**
 * What one process at a time may do. It is ours from an answer of Redis until its time is over, counted by our own clock from
 * before we asked: however late the answer, and however long Redis stays away, nobody else has it meanwhile. A process that was
 * stopped and goes on does not know that yet; therefore what it does carries the token, and whoever carries it out refuses a
 * smaller one than it has seen.
 */
export class Lease {
  private readonly acquireScript = new RedisScript(ACQUIRE);
  private readonly releaseScript = new RedisScript(RELEASE);
  private readonly keys: readonly string[];
  private held: number | undefined;
  private endsMs = 0;
  private renewal: NodeJS.Timeout | undefined;
  private end: NodeJS.Timeout | undefined;
  private isStopped = true;

  constructor(private readonly options: LeaseOptions) {
    const { prefix, name } = options;
    this.keys = [`${prefix}:lease:${name}`, `${prefix}:lease-token:${name}`];
  }

  /** The fencing token while it is ours. */
  get token(): number | undefined {
    return performance.now() < this.endsMs ? this.held : undefined;
  }

  /** Asks for it until `stop`. */
  start(): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    void this.ask();
  }

  /** Gives it up, so that another may have it at once. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.renewal);
    const wasOurs = this.held !== undefined;
    this.lose();
    if (!wasOurs) return;
    // If Redis is away, its time runs out.
    await this.releaseScript
      .run(this.options.redis, [this.keys[0]], [this.options.holder])
      .catch(() => undefined);
  }

  private async ask(): Promise<void> {
    const { redis, holder, ttlMs } = this.options;
    const askedMs = performance.now();
    let standing: Standing | undefined;
    try {
      standing = standingOf(await this.acquireScript.run(redis, this.keys, [holder, ttlMs]));
    } catch {
      // What Redis did not say may be said next time; until its end what we have is ours.
    }
    if (this.isStopped) return;
    if (standing !== undefined) {
      if (standing.isOurs) this.take(standing.token, askedMs + ttlMs);
      else this.lose();
    }
    this.renewal = setTimeout(() => void this.ask(), ttlMs / 3);
    this.renewal.unref();
  }

  private take(token: number, endsMs: number): void {
    const leftMs = endsMs - performance.now();
    if (leftMs <= 0) return;
    this.endsMs = endsMs;
    clearTimeout(this.end);
    this.end = setTimeout(() => this.lose(), leftMs);
    this.end.unref();
    if (this.held === token) return;
    this.held = token;
    this.options.onChange(token);
  }

  private lose(): void {
    clearTimeout(this.end);
    this.endsMs = 0;
    if (this.held === undefined) return;
    this.held = undefined;
    this.options.onChange(undefined);
  }
}

function standingOf(answer: unknown): Standing {
  const [isOurs, token] = answer as readonly [number, string];
  return { isOurs: isOurs === 1, token: Number(token) };
}
