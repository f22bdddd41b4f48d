import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

export interface HttpCall {
  readonly path: string;
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
}

const ANSWER_MS = 15_000;

/** Keep-alive connections to one server. */
export class HttpPeer {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });
  private readonly host: string;
  private readonly port: number;

  constructor(origin: string) {
    const url = new URL(origin);
    this.host = url.hostname;
    this.port = Number(url.port);
  }

  /** @throws Error when there is no answer in 15 s. */
  call({ path, method = 'POST', body, contentType = 'application/json' }: HttpCall): Promise<HttpAnswer> {
    const { agent, host, port } = this;
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': contentType };
      const sent = request({ agent, host, port, path, method, headers }, (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error(`no answer in ${ANSWER_MS} ms`)));
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Sends a request and breaks the connection so much later, whatever has come by then. */
  abort({ path, body }: HttpCall, afterMs: number): Promise<void> {
    const { host, port } = this;
    return new Promise((resolve) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request({ host, port, path, method: 'POST', headers, agent: false }, (response) => {
        response.on('error', () => undefined).resume();
      });
      sent.on('error', () => undefined);
      sent.on('close', () => resolve());
      sent.end(body);
      setTimeout(() => sent.destroy(), afterMs);
    });
  }

  /** Bytes on a connection of their own; resolves with what came back until the other side closed it, or half a second. */
  raw(bytes: Buffer, end: boolean): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket = connect(this.port, this.host, () => {
        socket.write(bytes);
        if (end) socket.end();
      });
      const late = setTimeout(() => socket.destroy(), 500);
      socket.on('data', (part: Buffer) => (text += part.toString('latin1')));
      // Reset by a server that had enough.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(late);
        resolve(text);
      });
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
