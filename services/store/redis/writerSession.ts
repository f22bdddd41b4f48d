import { randomBytes } from 'node:crypto';
import { RedisScript, type RedisConnection } from '../../redis/index.js';
import { folderOf, isCold } from '../coldKeys.js';
import type { PendingWrite } from './pendingWrite.js';
import type { StoreKeys } from './storeKeys.js';
import { MARK_KEPT_MS } from '../markImage.js';

/** What the keys hold; grows by one when an older program could no longer read them. */
export const REDIS_SCHEMA_VERSION = 1;

/** So many changes a follower finds that was away; after more it loads everything. */
const CHANGES_KEPT = 10_000;
/** A writer that is away for longer is forgotten, and with it which of its last writes were made. */
const WRITER_KEPT_MS = 24 * 60 * 60 * 1000;
/** The clock of a Redis that takes over may be ahead. */
const MARK_SLACK_MS = 60 * 60 * 1000;

const OPEN = new RedisScript('services/store/redis/scripts/open.lua');
const WRITE = new RedisScript('services/store/redis/scripts/write.lua');

/** What was found at the beginning of a session. */
export type Opening =
  /** Writes of ours that Redis has made, by their number; `isOther`: the epoch was not known before. */
  | { readonly kind: 'ok'; readonly isOther: boolean; readonly made: ReadonlyMap<number, Made> }
  | { readonly kind: 'newer'; readonly epoch: string }
  | { readonly kind: 'behind'; readonly epoch: string; readonly seq: number; readonly words: string }
  | { readonly kind: 'schema'; readonly schema: number }
  | { readonly kind: 'foreign' };

export interface Made {
  readonly version: number;
  readonly seq: number;
}

export type WriteAnswer =
  | ({ readonly kind: 'ok' } & Made)
  | { readonly kind: 'conflict'; readonly seq: number }
  | { readonly kind: 'marked'; readonly seq: number; readonly marks: readonly string[] }
  /** Nothing is done: another session must begin. */
  | { readonly kind: 'epoch' | 'session' | 'order' };

export interface Seen {
  readonly seq: number;
  readonly tip: string;
}

/**
 * The writer's side of the scripts. Writes are pipelined, and come in order or not at all: each names the one before it
 * in its session, and a session ends with its connection. What a lost connection still brings is refused, and what it
 * brought before is found in the writer's key.
 */
export class WriterSession {
  readonly id = randomBytes(9).toString('base64url');
  epoch = '';
  private session = '';
  private sent = 0;
  private readonly runs = new Set<string>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: StoreKeys,
  ) {}

  /** Begins a session. Nothing may be written until it is begun. @throws Error of Redis or the connection */
  async open(seen: Seen): Promise<Opening> {
    const { keys, redis } = this;
    const session = randomBytes(9).toString('base64url');
    const open = [
      keys.meta,
      keys.state,
      keys.changes(this.epoch),
      keys.writer(this.id),
      keys.boots,
      keys.trial,
    ];
    const answer = answerOf(
      await OPEN.run(redis, open, [
        session,
        this.epoch,
        seen.seq,
        seen.tip,
        `1-${session}`,
        REDIS_SCHEMA_VERSION,
        WRITER_KEPT_MS,
        ...this.runs,
      ]),
    );
    switch (answer[0]) {
      case 'ok': {
        await WRITE.load(redis, [keys.meta], []);
        const [, epoch, , runs, made] = answer as [string, string, string, string[], string[]];
        for (const run of runs) this.runs.add(run);
        const isOther = this.epoch !== epoch;
        this.epoch = epoch;
        this.session = session;
        this.sent = 0;
        return { kind: 'ok', isOther, made: madeOf(made) };
      }
      case 'newer':
        return { kind: 'newer', epoch: String(answer[1]) };
      case 'behind':
        return { kind: 'behind', epoch: String(answer[1]), seq: Number(answer[2]), words: String(answer[3]) };
      case 'schema':
        return { kind: 'schema', schema: Number(answer[1]) };
      default:
        return { kind: 'foreign' };
    }
  }

  /** Another epoch is taken for the truth from here on: what was known of the old one counts no more. */
  adopt(epoch: string): void {
    this.epoch = epoch;
    this.runs.clear();
  }

  /** @param settled outcomes of all writes up to this number are known. @throws Error of Redis or the connection */
  async send(write: PendingWrite, settled: number): Promise<WriteAnswer> {
    const { keys } = this;
    const before = this.sent;
    this.sent = write.number;
    const base = write.base;
    const state = isCold(write.key) ? keys.cold(folderOf(write.key)) : keys.state;
    const names = [keys.meta, state, keys.changes(this.epoch), keys.writer(this.id)];
    const answer = answerOf(
      await WRITE.runLoaded(
        this.redis,
        [...names, ...write.marks.map((mark) => keys.mark(mark))],
        [
          this.epoch,
          this.session,
          write.number,
          before,
          settled,
          this.id,
          write.key,
          write.expected,
          base === undefined || base.made !== undefined ? 0 : base.number,
          write.text === undefined ? 0 : 1,
          write.text ?? '',
          CHANGES_KEPT,
          WRITER_KEPT_MS,
          MARK_KEPT_MS + MARK_SLACK_MS,
        ],
      ),
    );
    switch (answer[0]) {
      case 'ok':
        return { kind: 'ok', version: Number(answer[1]), seq: Number(answer[2]) };
      case 'conflict':
        return { kind: 'conflict', seq: Number(answer[1]) };
      case 'marked': {
        const there = new Set(answer.slice(2).map((index) => write.marks[Number(index) - 1]));
        return { kind: 'marked', seq: Number(answer[1]), marks: [...there] };
      }
      case 'epoch':
      case 'session':
      case 'order':
        return { kind: answer[0] };
      default:
        throw new Error(`a script answered ${answer[0]}`);
    }
  }
}

function madeOf(fields: readonly string[]): Map<number, Made> {
  const made = new Map<number, Made>();
  for (let i = 0; i < fields.length; i += 2) {
    const [version, seq] = fields[i + 1].split(' ').map(Number);
    made.set(Number(fields[i]), { version, seq });
  }
  return made;
}

/** An answer of a script: its first word says which. */
function answerOf(answer: unknown): readonly [string, ...unknown[]] {
  if (Array.isArray(answer) && typeof answer[0] === 'string') return answer as [string, ...unknown[]];
  throw new Error(`a script answered ${JSON.stringify(answer)}`);
}
