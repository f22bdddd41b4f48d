import { jsonText, parseExactly } from '../json/index.js';
import { ClientError, TimeoutError, UnexpectedAnswerError, unreachable } from './clientErrors.js';
import type { CallOptions } from './clientTypes.js';
import { keyHeaders, type ConnectionOptions } from './connectionOptions.js';
import { readRefusal } from './jsonBodies.js';
import { httpTransport } from './nodeTransport.js';
import type { HttpTransport, Pieces, TransportAnswer } from './transport.js';

export const DEFAULT_TIMEOUT_MS = 30_000;

interface HttpAnswer {
  readonly status: number;
  readonly isJson: boolean;
  readonly text: string;
}

/** Asks one server. */
export class HttpCalls {
  private readonly origin: string;
  private readonly transport: HttpTransport;
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
    this.transport = httpTransport(new URL(this.origin), connection);
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
  async *stream(
    path: string,
    { signal, body, type, silenceMs }: StreamOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const silence = new AbortController();
    const broken = (cause: unknown) =>
      silence.signal.aborted
        ? new TimeoutError(`${this.origin} said nothing for ${silenceMs} ms`)
        : unreachable(this.origin, `no server answers at ${this.origin}`, cause, this.hasAnswered);
    const heard = async <T>(next: Promise<T>): Promise<T> => {
      if (silenceMs === undefined) return next;
      const timer = setTimeout(() => silence.abort(), silenceMs);
      try {
        return await next;
      } finally {
        clearTimeout(timer);
      }
    };
    const end = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    let answer: TransportAnswer;
    try {
      const request: HttpRequest =
        body === undefined
          ? { method: 'GET', path }
          : { method: 'POST', path, body: jsonText(body), type: 'application/json' };
      answer = await heard(this.exchange(request, end));
      this.hasAnswered = true;
      if (answer.status !== 200) this.valueOf(path, await heard(whole(answer)));
    } catch (cause) {
      throw cause instanceof ClientError ? cause : broken(cause);
    }
    const pieces = answer.body[Symbol.asyncIterator]();
    try {
      if (type !== undefined && !answer.contentType.startsWith(type)) {
        throw new UnexpectedAnswerError(
          `what answers ${this.origin}${path} is no Windjammer; is the address right?`,
        );
      }
      for (;;) {
        const piece = await heard(pieces.next()).catch((cause: unknown) => {
          throw broken(cause);
        });
        if (piece.done === true) return;
        yield piece.value;
      }
    } finally {
      // Of what is not read to its end, the connection is ended.
      await pieces.return?.();
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
  ): Promise<TransportAnswer> {
    const headers = { ...this.headers, ...(type === undefined ? {} : { 'content-type': type }), ...more };
    return this.transport({ method, path, headers, body, signal });
  }
}

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** To POST; undefined: it is a GET. */
  readonly body?: unknown;
  /** Of an answer's content: what has another one is somebody else's. */
  readonly type?: string | undefined;
  /** A server that says nothing for so long is given up; undefined: never. */
  readonly silenceMs?: number | undefined;
}

/** One request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string | Pieces;
  readonly type?: string;
  /** Further headers. */
  readonly more?: Readonly<Record<string, string>>;
}

async function whole({ status, contentType, body }: TransportAnswer): Promise<HttpAnswer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return {
    status,
    isJson: contentType.startsWith('application/json'),
    text: Buffer.concat(parts).toString('utf8'),
  };
}

function parse(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    throw new UnexpectedAnswerError('the answer says that it is JSON and is none', { cause });
  }
}
