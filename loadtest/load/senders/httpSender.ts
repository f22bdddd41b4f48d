import { Pool } from 'undici';
import {
  readFeedbackResult,
  readRefusal,
  UnexpectedAnswerError,
  type ConnectionOptions,
} from '../../../services/client/index.js';
import { parseExactly } from '../../../services/json/index.js';
import { headersOf, outcomeOf, type HttpForm } from './queryBodies.js';
import type { FeedbackMessage, LoadQuery, Outcome, Prepared, Sender } from './sender.js';

export interface HttpSenderOptions {
  readonly url: string;
  readonly connection: ConnectionOptions;
  readonly connections: number;
  readonly timeoutMs: number;
}

const WARM_CONNECTIONS = 16;
const WARM_ROUNDS = 50;

/** Queries over a pool of connections, each of which carries one at a time: more wait for the first that is free. */
export class HttpSender implements Sender {
  private readonly pool: Pool;
  private readonly headers: Record<string, string>;
  private readonly base: string;
  private readonly connections: number;

  constructor(
    private readonly form: HttpForm,
    { url, connection, connections, timeoutMs }: HttpSenderOptions,
  ) {
    const { origin, pathname } = new URL(url);
    this.base = pathname.replace(/\/$/, '');
    this.connections = connections;
    this.headers = headersOf(connection);
    const { ca, cert, key } = connection;
    this.pool = new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    });
  }

  prepare(query: LoadQuery): Prepared {
    const path = this.base + this.form.path(query);
    const body = this.form.body(query);
    return (done) =>
      this.send('POST', path, body, (status, text) => done(outcomeOf(this.form, status, text)), done);
  }

  feedback({ application, context, queryId, label }: FeedbackMessage): Promise<string> {
    const path = `${this.base}/${encodeURIComponent(application.name)}/update`;
    const body = JSON.stringify({ query_id: queryId, label, context });
    return new Promise((resolve) => {
      this.send(
        'POST',
        path,
        body,
        (status, text) => resolve(feedbackOutcome(status, text)),
        ({ code }) => resolve(code),
      );
    });
  }

  async warmUp(): Promise<void> {
    const ask = () =>
      new Promise<void>((resolve) =>
        this.send(
          'GET',
          `${this.base}/healthz`,
          undefined,
          () => resolve(),
          () => resolve(),
        ),
      );
    await Promise.all(Array.from({ length: Math.min(this.connections, WARM_CONNECTIONS) }, ask));
    for (let round = 0; round < WARM_ROUNDS; round++) await ask();
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private send(
    method: 'GET' | 'POST',
    path: string,
    body: string | undefined,
    onAnswer: (status: number, text: string) => void,
    onFailure: (outcome: Extract<Outcome, { kind: 'failed' }>) => void,
  ): void {
    let status = 0;
    const parts: Buffer[] = [];
    this.pool.dispatch(
      { path, method, headers: this.headers, ...(body === undefined ? {} : { body }) },
      {
        onConnect: () => undefined,
        onHeaders: (code) => {
          status = code;
          return true;
        },
        onData: (part) => {
          parts.push(part);
          return true;
        },
        onComplete: () => onAnswer(status, Buffer.concat(parts).toString('utf8')),
        onError: (error) => onFailure(failureOf(error)),
      },
    );
  }
}

function failureOf(error: Error): Extract<Outcome, { kind: 'failed' }> {
  const isTimeout = 'code' in error && /_TIMEOUT$/.test(String(error.code));
  return { kind: 'failed', code: isTimeout ? 'timeout' : 'unreachable', message: error.message };
}

function feedbackOutcome(status: number, text: string): string {
  try {
    const value = parseExactly(text);
    if (status >= 200 && status < 300) return readFeedbackResult(value).joined;
    return readRefusal(value, status)?.code ?? 'unexpected_answer';
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof UnexpectedAnswerError)) throw cause;
    return 'unexpected_answer';
  }
}
