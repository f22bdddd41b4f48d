import { randomBytes } from 'node:crypto';
import type { Json } from '../../selection/index.js';
import { isAnswer, RedisScript, type RedisConnection } from '../redis/index.js';
import { ClusterError } from './clusterError.js';

/** What processes of a cluster are. */
export type MemberKind = 'frontend' | 'node';

export interface Member {
  readonly name: string;
  /** Another for each process that has had the name. */
  readonly incarnation: string;
  /** What it says of itself. */
  readonly record: Json;
}

export interface MembershipOptions {
  readonly redis: RedisConnection;
  /** Of every key: `keyPrefix`. */
  readonly prefix: string;
}

/** How often a member says that it is there, and how long each word of it holds. */
export const ANNOUNCE_EVERY_MS = 500;
export const ALIVE_MS = 1500;
/** After that a member that was lost is no longer listed. */
const FORGOTTEN_AFTER_MS = 3_600_000;

const SCRIPTS = 'services/cluster/scripts';

function keysOf(prefix: string, kind: MemberKind): readonly string[] {
  return [`${prefix}:${kind}:records`, `${prefix}:${kind}:alive`, `${prefix}:${kind}:incarnations`];
}

/** Says of one process, again and again, that it is there. Times are Redis' own: nobody's clock matters. */
export class Announcement {
  readonly incarnation = randomBytes(9).toString('base64url');
  private readonly announce = new RedisScript(`${SCRIPTS}/announce.lua`);
  private readonly leave = new RedisScript(`${SCRIPTS}/leave.lua`);
  private readonly keys: readonly string[];
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  /**
   * @param record asked for each time
   * @param onDisplaced another process has the name: this one was silent for too long
   */
  constructor(
    private readonly options: MembershipOptions,
    private readonly kind: MemberKind,
    readonly name: string,
    private readonly record: () => Json,
    private readonly onDisplaced: () => void,
  ) {
    this.keys = keysOf(options.prefix, kind);
  }

  /**
   * The first word; from then on by itself, whether Redis is there or not. Where it has gone just now, so does the first.
   * @throws ClusterError `nameTaken`, and what Redis refuses (as rejections)
   */
  async start(): Promise<void> {
    const isOurs = await this.say().catch((error: unknown) => {
      if (isAnswer(error)) throw error;
      return true;
    });
    if (!isOurs) {
      throw new ClusterError(
        'nameTaken',
        `there is a ${this.kind} '${this.name}' in this cluster, and it is alive: give this one another name, or stop that one`,
      );
    }
    this.schedule();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    // If Redis is away, its word runs out.
    await this.leave.run(this.options.redis, this.keys, [this.name, this.incarnation]).catch(() => undefined);
  }

  private async say(): Promise<boolean> {
    const args = [this.name, this.incarnation, JSON.stringify(this.record()), ALIVE_MS];
    return (await this.announce.run(this.options.redis, this.keys, args)) === 1;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.say()
        .then(
          (isOurs) => void (isOurs || this.isStopped || this.onDisplaced()),
          () => undefined,
        )
        .finally(() => void (this.isStopped || this.schedule()));
    }, ANNOUNCE_EVERY_MS);
    this.timer.unref();
  }
}

/** Who is in the cluster, and who was lately. */
export interface Roster {
  readonly alive: readonly Member[];
  readonly dead: readonly Member[];
}

/** Looks who is there, again and again. While Redis is away, the last that was seen stays. */
export class RosterWatch {
  private readonly script = new RedisScript(`${SCRIPTS}/members.lua`);
  private readonly keys: readonly string[];
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private present: Roster = { alive: [], dead: [] };
  private lastHeardMs = -Infinity;
  /** When each was last heard of. */
  private wordsMs: ReadonlyMap<string, number> = new Map();
  /** Words that Redis had before it was away have run out meanwhile: nobody is dead before all could speak again. */
  private patientUntilMs = 0;

  /** @param onChange called when a member came, went, or said something else of itself */
  constructor(
    private readonly options: MembershipOptions,
    readonly kind: MemberKind,
    private readonly onChange: (roster: Roster) => void = () => undefined,
  ) {
    this.keys = keysOf(options.prefix, kind);
  }

  get roster(): Roster {
    return this.present;
  }

  /** Redis has said who is there, be it nobody. */
  get isKnown(): boolean {
    return this.lastHeardMs > -Infinity;
  }

  /** How long ago the last word of a member was; undefined for one that is not listed. Seconds. */
  lastWordSeconds(name: string): number | undefined {
    const atMs = this.wordsMs.get(name);
    return atMs === undefined ? undefined : Math.max(0, performance.now() - atMs) / 1000;
  }

  /** The first look; from then on by itself, also where that failed. @throws what Redis says (as a rejection) */
  async start(): Promise<void> {
    try {
      this.take(await this.look());
    } finally {
      this.schedule();
    }
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private async look(): Promise<Roster> {
    const askedMs = performance.now();
    const answer = await this.script.run(this.options.redis, this.keys, [FORGOTTEN_AFTER_MS]);
    const words = answer as readonly string[];
    const alive: Member[] = [];
    const dead: Member[] = [];
    const wordsMs = new Map<string, number>();
    for (let at = 0; at < words.length; at += 4) {
      const [name, incarnation, record, leftMs] = words.slice(at, at + 4);
      const member = { name, incarnation, record: JSON.parse(record) as Json };
      (Number(leftMs) > 0 ? alive : dead).push(member);
      wordsMs.set(name, askedMs - (ALIVE_MS - Number(leftMs)));
    }
    this.wordsMs = wordsMs;
    return { alive, dead };
  }

  private take(seen: Roster): void {
    const nowMs = performance.now();
    if (nowMs - this.lastHeardMs > 2 * ANNOUNCE_EVERY_MS) this.patientUntilMs = nowMs + 2 * ALIVE_MS;
    this.lastHeardMs = nowMs;
    const roster = nowMs < this.patientUntilMs ? this.patient(seen) : seen;
    if (JSON.stringify(roster) === JSON.stringify(this.present)) return;
    this.present = roster;
    this.onChange(roster);
  }

  /** Whoever was alive before the gap still is, unless it is seen with another incarnation. */
  private patient(seen: Roster): Roster {
    const named = new Set(seen.alive.map(({ name }) => name));
    const missed = this.present.alive.filter(({ name }) => !named.has(name));
    const kept = new Set(missed.map(({ name }) => name));
    return { alive: [...seen.alive, ...missed], dead: seen.dead.filter(({ name }) => !kept.has(name)) };
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.look()
        .then(
          (roster) => void (this.isStopped || this.take(roster)),
          () => undefined,
        )
        .finally(() => void (this.isStopped || this.schedule()));
    }, ANNOUNCE_EVERY_MS);
    this.timer.unref();
  }
}
