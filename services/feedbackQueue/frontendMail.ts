import { isAnswer, RedisScript, type RedisConnection } from '../redis/index.js';

/** A frontend that says nothing of itself for so long is gone. That is final, and one that only stands still is asked again. */
const ALIVE_MS = 10_000;
const ALIVE_EVERY_MS = 1000;
/** Once Redis is back, everybody has found it and said so by then. */
const ALL_BACK_MS = 3000;

/** An answer that takes longer comes too late. */
const ANSWER_TIMEOUT_MS = 2000;

/** What a frontend does not read in that time is lost: whoever asked has given up. */
const KEPT_MS = 10_000;

const MOST_AT_ONCE = 100;
/** After it the reader asks again; seconds. */
const READ_TIMEOUT_S = 2;

export interface MailOptions {
  readonly commands: RedisConnection;
  /** For the reader alone, which waits in it. */
  readonly reader: RedisConnection;
  readonly prefix: string;
  /** Whoever this is; what begins its query ids. */
  readonly name: string;
  /** Answers a question of another frontend: JSON in, JSON out. */
  readonly answer: (question: unknown) => Promise<unknown>;
}

type Letter =
  | { readonly kind: 'question'; readonly id: number; readonly from: string; readonly body: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly body: unknown };

/**
 * Questions and answers between frontends, through a list for each in Redis. A question may be lost, or answered after whoever
 * asked has given up; nothing is acknowledged by it that its answer does not say.
 */
export class FrontendMail {
  private readonly post = new RedisScript('services/feedbackQueue/scripts/post.lua');
  private readonly asked = new Map<number, (body: unknown) => void>();
  private nextId = 1;
  private alive: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** When this one last said that it is there. */
  private saidMs: number | undefined;
  private sureFromMs = -Infinity;

  constructor(private readonly options: MailOptions) {}

  /** @throws what Redis refuses (as a rejection) */
  async start(): Promise<void> {
    await this.sayAlive().catch((error: unknown) => {
      // Where Redis has gone just now, it is said once that is back.
      if (isAnswer(error)) throw error;
    });
    this.schedule();
    void this.read();
  }

  /**
   * What the frontend answers; `gone`: there is none of this name, `silent`: no answer came in time.
   * @throws what Redis says (as a rejection)
   */
  async ask(to: string, body: unknown): Promise<{ readonly body: unknown } | 'gone' | 'silent'> {
    const id = this.nextId++;
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<{ body: unknown } | 'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), ANSWER_TIMEOUT_MS);
      this.asked.set(id, (found) => resolve({ body: found }));
    });
    try {
      const isThere = await this.send(to, { kind: 'question', id, from: this.options.name, body });
      if (isThere) return await answered;
      return this.isSure ? 'gone' : 'silent';
    } finally {
      clearTimeout(timer);
      this.asked.delete(id);
    }
  }

  /** Others find at once that nobody is here any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.alive);
    await this.options.commands.del(this.aliveKey(this.options.name)).catch(() => undefined);
  }

  private async read(): Promise<void> {
    const { reader, name } = this.options;
    const key = this.listKey(name);
    while (!this.isClosed) {
      try {
        const first = await reader.blpop(key, READ_TIMEOUT_S);
        if (first === null) continue;
        this.open(first[1]);
        for (const text of (await reader.lpop(key, MOST_AT_ONCE)) ?? []) this.open(text);
      } catch {
        // The connection is made again by itself; meanwhile there is nothing to read.
        await new Promise((resolve) => setTimeout(resolve, 100).unref());
      }
    }
  }

  private open(text: string): void {
    const letter = letterOf(text);
    if (letter?.kind === 'answer') this.asked.get(letter.id)?.(letter.body);
    if (letter?.kind !== 'question') return;
    const { id, from, body } = letter;
    this.options
      .answer(body)
      .then((answer) => this.send(from, { kind: 'answer', id, body: answer }))
      // Whoever asked hears nothing, which says as much.
      .catch(() => undefined);
  }

  private async send(to: string, letter: Letter): Promise<boolean> {
    const keys = [this.aliveKey(to), this.listKey(to)];
    return (await this.post.run(this.options.commands, keys, [JSON.stringify(letter), KEPT_MS])) === 1;
  }

  private async sayAlive(): Promise<void> {
    await this.options.commands.set(this.aliveKey(this.options.name), '1', 'PX', ALIVE_MS);
    const nowMs = performance.now();
    if (this.saidMs !== undefined && nowMs - this.saidMs > 2 * ALIVE_EVERY_MS)
      this.sureFromMs = nowMs + ALL_BACK_MS;
    this.saidMs = nowMs;
  }

  /** Whether others could say that they are there: what they said before Redis was away has run out meanwhile. */
  private get isSure(): boolean {
    const nowMs = performance.now();
    return nowMs - (this.saidMs ?? 0) <= 2 * ALIVE_EVERY_MS && nowMs >= this.sureFromMs;
  }

  private schedule(): void {
    if (this.isClosed) return;
    this.alive = setTimeout(() => {
      this.sayAlive()
        .catch(() => undefined)
        .finally(() => this.schedule());
    }, ALIVE_EVERY_MS);
    this.alive.unref();
  }

  private aliveKey(name: string): string {
    return `${this.options.prefix}:feedback-holder:${name}`;
  }

  private listKey(name: string): string {
    return `${this.options.prefix}:feedback-mail:${name}`;
  }
}

function letterOf(text: string): Letter | undefined {
  try {
    const letter = JSON.parse(text) as Partial<Letter> | null;
    return typeof letter?.id === 'number' ? (letter as Letter) : undefined;
  } catch {
    return undefined;
  }
}
