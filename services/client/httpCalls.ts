import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { ClientError, TimeoutError, UnexpectedAnswerError, unreachable } from './clientErrors.js';
import type { CallOptions } from './clientTypes.js';
import { keyHeaders, type ConnectionOptions } from './connectionOptions.js';
import { jsonText, parseExactly } from '../json/index.js';
import { readRefusal } from './jsonBodies.js';

export const DEFAULT_TIMEOUT_MS = 30_000;

interface HttpAnswer {
  readonly status: number;
  readonly isJson: boolean;
  readonly text: string;
}

/** What `node:http` and `node:https` have in common. */
interface Transport {
  readonly request: typeof requestHttp;
  readonly agent: HttpAgent;
}

/** Shared by every client of the process that says nothing of certificates. */
const PLAIN: Transport = { request: requestHttp, agent: new HttpAgent({ keepAlive: true }) };
const SECURE: Transport = { request: requestHttps, agent: new HttpsAgent({ keepAlive: true }) };

/** Asks one server, on connections that are kept alive. Not by `fetch`, which can be told of no authority. */
export class HttpCalls {
  private readonly origin: string;
  private readonly base: URL;
  private readonly transport: Transport;
  private readonly headers: Readonly<Record<string, string>>;
  private hasAnswered = false;

  /** @throws TypeError on an address that is none, or a key with characters that no key has */
  constructor(
    url: string,
    private readonly timeoutMs = DEFAULT_TIMEOUT_MS,
    connection: ConnectionOptions = {},
  ) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError(`${JSON.stringify(url)} is no address of a server: http://HOST:PORT is`);
    }
    this.origin = url.replace(/\/+$/, '');
    this.base = new URL(this.origin);
    this.transport = transportOf(this.base, connection);
    this.headers = keyHeaders(connection);
  }

  /**
   * POSTs JSON.
   * @param more headers of this call
   * @returns the JSON of the answer, or its text. @throws ClientError, or the reason of the signal
   */
  post(
    path: string,
    body: unknown,
    options: CallOptions = {},
    more: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    return this.call({ method: 'POST', path, body: jsonText(body), type: 'application/json', more }, options);
  }

  /** @returns the JSON of the answer, or its text. @throws ClientError, or the reason of the signal */
  async call(request: HttpRequest, options: CallOptions = {}): Promise<unknown> {
    const limitMs = options.timeoutMs ?? this.timeoutMs;
    // Not AbortSignal.timeout: its signals stay in memory until their time has come.
    const end = new AbortController();
    let isOverTime = false;
    const timer = setTimeout(() => {
      isOverTime = true;
      end.abort();
    }, limitMs);
    const onAbort = (): void => end.abort();
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted === true) end.abort();
    let answer: HttpAnswer;
    try {
      answer = await whole(await this.exchange(request, end.signal));
    } catch (cause) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (isOverTime) throw new TimeoutError(`${this.origin} did not answer within ${limitMs} ms`);
      throw unreachable(this.origin, `no server answers at ${this.origin}`, cause, this.hasAnswered);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    }
    this.hasAnswered = true;
    return this.valueOf(request.path, answer);
  }

  /** An answer as it comes, for as long as it takes. @throws ClientError, as a rejection or where it breaks off */
  async *stream(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
    const broken = (cause: unknown) =>
      unreachable(this.origin, `no server answers at ${this.origin}`, cause, this.hasAnswered);
    let answer: IncomingMessage;
    try {
      answer = await this.exchange({ method: 'GET', path }, signal);
      this.hasAnswered = true;
      if (answer.statusCode !== 200) this.valueOf(path, await whole(answer));
    } catch (cause) {
      throw cause instanceof ClientError ? cause : broken(cause);
    }
    try {
      for await (const piece of answer) yield piece as Buffer;
    } catch (cause) {
      throw broken(cause);
    }
  }

  private valueOf(path: string, { status, isJson, text }: HttpAnswer): unknown {
    const value = isJson ? parse(text) : text;
    if (status >= 200 && status < 300) return value;
    const refusal = readRefusal(value, status);
    if (refusal !== undefined) throw refusal;
    throw new UnexpectedAnswerError(`${this.origin}${path} answers ${status} without an error of ours`);
  }

  private exchange(
    { method, path, body, type, more }: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const { request, agent } = this.transport;
    const { base } = this;
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers,
        ...(type === undefined ? {} : { 'content-type': type }),
        ...more,
        ...(typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {}),
      };
      // Not resolved against the address: `//` would begin another host, which would be shown the key.
      const target = base.pathname.replace(/\/$/, '') + path;
      const outgoing = request(base, { method, path: target, agent, headers, signal }, resolve);
      outgoing.on('error', reject);
      if (body === undefined || typeof body === 'string') outgoing.end(body);
      else {
        // A server that refuses does not read to the end: its answer counts, and no pipe that broke.
        body.on('error', reject);
        body.pipe(outgoing);
      }
    });
  }
}

/** One request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string | Readable;
  readonly type?: string;
  /** Further headers. */
  readonly more?: Readonly<Record<string, string>>;
}

async function whole(answer: IncomingMessage): Promise<HttpAnswer> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return {
    status: answer.statusCode ?? 0,
    isJson: answer.headers['content-type']?.startsWith('application/json') === true,
    text: Buffer.concat(parts).toString('utf8'),
  };
}

function transportOf({ protocol }: URL, { ca, cert, key }: ConnectionOptions): Transport {
  if (protocol === 'http:') return PLAIN;
  if (ca === undefined && cert === undefined) return SECURE;
  return { request: requestHttps, agent: new HttpsAgent({ keepAlive: true, ca, cert, key }) };
}

function parse(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    throw new UnexpectedAnswerError('the answer says that it is JSON and is none', { cause });
  }
}
