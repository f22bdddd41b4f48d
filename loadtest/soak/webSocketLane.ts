import { WebSocket } from 'ws';
import { BINARY_MESSAGES, JSON_MESSAGES, RefusedError, readAnswer } from '../../services/client/index.js';
import { ECHO } from './expectations.js';
import type { Exchange } from './goodLanes.js';
import type { Lane } from './lanes.js';
import type { ViolationSink } from './violations.js';

interface Pending {
  readonly token: number;
  readonly done: () => void;
}

const ANSWER_MS = 15_000;

/** One connection that is kept, with ids that are never used again: a second answer to one shows. */
class IdentifiedSocket {
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  private constructor(
    private readonly webSocket: WebSocket,
    private readonly name: string,
    private readonly format: 'binary' | 'json',
    private readonly expect: Exchange['expect'],
    private readonly violations: ViolationSink,
  ) {
    webSocket.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary));
    webSocket.on('close', (code) => {
      if (this.pending.size > 0) {
        violations.add('nothing answered', `${name}: closed with ${code}, ${this.pending.size} under way`);
      }
      for (const { done } of this.pending.values()) done();
      this.pending.clear();
    });
  }

  static open(
    origin: string,
    format: 'binary' | 'json',
    { expect }: Exchange,
    violations: ViolationSink,
  ): Promise<IdentifiedSocket> {
    const webSocket = new WebSocket(`${origin.replace(/^http/, 'ws')}/ws`, { perMessageDeflate: false });
    return new Promise((resolve, reject) => {
      webSocket.once('error', reject);
      webSocket.once('open', () =>
        resolve(new IdentifiedSocket(webSocket, `websocket ${format}`, format, expect, violations)),
      );
    });
  }

  get isOpen(): boolean {
    return this.webSocket.readyState === WebSocket.OPEN;
  }

  predict(token: number): Promise<void> {
    const id = this.nextId++;
    const messages = this.format === 'json' ? JSON_MESSAGES : BINARY_MESSAGES;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.pending.delete(id);
        this.violations.add('nothing answered', `${this.name}: id ${id}, not in ${ANSWER_MS} ms`);
        resolve();
      }, ANSWER_MS);
      const done = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.pending.set(id, { token, done });
      this.webSocket.send(messages.predict(id, ECHO, Float64Array.of(token, 5), {}));
    });
  }

  close(): void {
    this.webSocket.close();
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    const { id, result } = readAnswer(data, isBinary);
    const pending = id === undefined ? undefined : this.pending.get(id);
    if (id === undefined || pending === undefined) {
      this.violations.add('answered twice', `${this.name}: id ${id} is not under way`);
      return;
    }
    this.pending.delete(id);
    if (result instanceof RefusedError) this.expect.refusal(this.name, result.status, [], result.message);
    else if ('output' in result) {
      const { output, isDefault, defaultReason, models } = result;
      this.expect.prediction(this.name, ECHO, pending.token, {
        output,
        default: isDefault,
        models,
        ...(defaultReason === undefined ? {} : { default_reason: defaultReason }),
      });
    } else this.violations.add('answered with another kind', `${this.name}: ${JSON.stringify(result)}`);
    pending.done();
  }
}

export function webSocketLane(
  exchange: Exchange,
  origin: string,
  format: 'binary' | 'json',
  violations: ViolationSink,
): Lane & { close(): Promise<void> } {
  let socket: Promise<IdentifiedSocket> | undefined;
  return {
    name: `websocket ${format}`,
    queries: 1,
    share: 0.15,
    most: 16,
    async run() {
      socket ??= IdentifiedSocket.open(origin, format, exchange, violations);
      let open: IdentifiedSocket;
      try {
        open = await socket;
      } catch (error) {
        socket = undefined;
        throw error;
      }
      if (open.isOpen) await open.predict(exchange.tokens.take());
      else socket = undefined;
    },
    async close() {
      try {
        (await socket)?.close();
      } catch {
        // It never opened, which its query has told.
      }
    },
  };
}
