import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { TimeoutError, UnexpectedAnswerError, unreachable } from './clientErrors.js';
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

/** POSTs JSON to one server, on connections that are kept alive. Not by `fetch`, which can be told of no authority. */
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
    this.headers = { 'content-type': 'application/json', ...keyHeaders(connection) };
  }

  /**
   * @param more headers of this call
   * @returns the JSON of the answer, or its text. @throws ClientError, or the reason of the signal
   */
  async post(
    path: string,
    body: unknown,
    options: CallOptions = {},
    more: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
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
      answer = await this.exchange(path, jsonText(body), more, end.signal);
    } catch (cause) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (isOverTime) throw new TimeoutError(`${this.origin} did not answer within ${limitMs} ms`);
      throw unreachable(this.origin, `no server answers at ${this.origin}`, cause, this.hasAnswered);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    }
    this.hasAnswered = true;
    const { status, isJson, text } = answer;
    const value = isJson ? parse(text) : text;
    if (status >= 200 && status < 300) return value;
    const refusal = readRefusal(value, status);
    if (refusal !== undefined) throw refusal;
    throw new UnexpectedAnswerError(`${this.origin}${path} answers ${status} without an error of ours`);
  }

  private exchange(
    path: string,
    body: string,
    more: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { request, agent } = this.transport;
    const { base } = this;
    return new Promise((resolve, reject) => {
      const onAnswer = (answer: IncomingMessage): void => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            isJson: answer.headers['content-type']?.startsWith('application/json') === true,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      };
      const headers = { ...this.headers, ...more, 'content-length': Buffer.byteLength(body) };
      // Not resolved against the address: `//` would begin another host, which would be shown the key.
      const target = base.pathname.replace(/\/$/, '') + path;
      const outgoing = request(base, { method: 'POST', path: target, agent, headers, signal }, onAnswer);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
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
