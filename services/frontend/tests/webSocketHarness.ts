import { WebSocket, type ClientOptions } from 'ws';
import type { FrontendHarness } from './harness.js';

export interface Received {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket whose messages are waited for one by one. */
export class TestSocket {
  private readonly received: Received[] = [];
  private wake: () => void = () => undefined;
  private ended: Closed | undefined;

  private constructor(readonly webSocket: WebSocket) {
    webSocket.on('message', (data, isBinary) => {
      this.received.push({ data: data as Buffer, isBinary });
      this.wake();
    });
    webSocket.on('error', () => undefined);
    webSocket.on('close', (code, reason) => {
      this.ended = { code, reason: reason.toString() };
      this.wake();
    });
  }

  static open(
    harness: FrontendHarness,
    options: ClientOptions = {},
    protocols: readonly string[] = [],
  ): Promise<TestSocket> {
    const webSocket = new WebSocket(`ws://127.0.0.1:${harness.address.port}/ws`, [...protocols], options);
    const socket = new TestSocket(webSocket);
    return new Promise((resolve, reject) => {
      webSocket.once('open', () => resolve(socket));
      webSocket.once('error', reject);
    });
  }

  send(message: object | Buffer | string): void {
    const isText = typeof message === 'string' || Buffer.isBuffer(message);
    this.webSocket.send(isText ? message : JSON.stringify(message));
  }

  async next(): Promise<Received> {
    for (;;) {
      const first = this.received.shift();
      if (first !== undefined) return first;
      if (this.ended !== undefined) throw new Error(`closed with ${this.ended.code} ${this.ended.reason}`);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async nextJson(): Promise<Readonly<Record<string, unknown>>> {
    const { data, isBinary } = await this.next();
    if (isBinary) throw new Error('a binary message came');
    return JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
  }

  async closed(): Promise<Closed> {
    while (this.ended === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.ended;
  }

  /** Messages that came and were not asked for. */
  get unread(): number {
    return this.received.length;
  }

  close(): void {
    this.webSocket.terminate();
  }
}
