import {
  ClientError,
  RefusedError,
  TimeoutError,
  UnexpectedAnswerError,
  WebSocketClient,
  type ConnectionOptions,
} from '../../../services/client/index.js';
import { inputValue } from '../../../containers/protocol/index.js';
import type { FeedbackMessage, LoadQuery, Outcome, Prepared, Sender } from './sender.js';

export interface WebSocketSenderOptions {
  readonly url: string;
  readonly connection: ConnectionOptions;
  readonly connections: number;
  readonly timeoutMs: number;
}

/** How long a connection that was lost is not opened again. */
const AGAIN_MS = 250;

/** Queries in binary frames over several WebSockets in turn. One that is lost is opened again as long as somebody asks. */
export class WebSocketSender implements Sender {
  private readonly clients: (WebSocketClient | undefined)[];
  private turn = 0;
  private isClosed = false;

  private constructor(
    private readonly options: WebSocketSenderOptions,
    clients: readonly WebSocketClient[],
  ) {
    this.clients = [...clients];
  }

  /** @throws ClientError */
  static async open(options: WebSocketSenderOptions): Promise<WebSocketSender> {
    const clients = await Promise.all(Array.from({ length: options.connections }, () => connect(options)));
    return new WebSocketSender(options, clients);
  }

  prepare({ application, context, features, input }: LoadQuery): Prepared {
    const typed = inputValue(application.form.type, input);
    return (done) => {
      const at = this.turn++ % this.clients.length;
      const client = this.clients[at];
      if (client === undefined) {
        done({ kind: 'failed', code: 'unreachable', message: 'the WebSocket is gone' });
        return;
      }
      client.predict(application.name, typed, { context, features }).then(
        (answer) => done({ kind: 'answer', answer }),
        (error: unknown) => {
          const outcome = outcomeOfError(error);
          if (outcome.code === 'unreachable') this.replace(at, client);
          done(outcome);
        },
      );
    };
  }

  async feedback({ application, context, queryId, label }: FeedbackMessage): Promise<string> {
    const client = this.clients.find((one) => one !== undefined);
    if (client === undefined) return 'unreachable';
    try {
      return (await client.feedback(application.name, { queryId, label, context })).joined;
    } catch (error) {
      return outcomeOfError(error).code;
    }
  }

  /** Connections are open from the beginning. */
  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.clients.flatMap((client) => (client === undefined ? [] : [client.close()])));
  }

  private replace(at: number, lost: WebSocketClient): void {
    if (this.clients[at] !== lost) return;
    this.clients[at] = undefined;
    this.tryAgain(at);
  }

  private tryAgain(at: number): void {
    const timer = setTimeout(() => {
      if (this.isClosed) return;
      connect(this.options).then(
        (client) => (this.clients[at] = client),
        () => this.tryAgain(at),
      );
    }, AGAIN_MS);
    timer.unref();
  }
}

function connect({ url, connection, timeoutMs }: WebSocketSenderOptions): Promise<WebSocketClient> {
  return WebSocketClient.connect(url, { ...connection, timeoutMs });
}

function outcomeOfError(error: unknown): Exclude<Outcome, { kind: 'answer' }> {
  if (error instanceof RefusedError) {
    const { code, status, message } = error;
    return { kind: 'refused', code, status, message };
  }
  if (!(error instanceof ClientError)) throw error;
  if (error instanceof TimeoutError) return { kind: 'failed', code: 'timeout', message: error.message };
  const code = error instanceof UnexpectedAnswerError ? 'unexpected_answer' : 'unreachable';
  return { kind: 'failed', code, message: error.message };
}
