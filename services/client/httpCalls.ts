import { TimeoutError, UnexpectedAnswerError, UnreachableError } from './clientErrors.js';
import type { CallOptions } from './clientTypes.js';
import { readRefusal } from './jsonBodies.js';

export const DEFAULT_TIMEOUT_MS = 30_000;

/** POSTs JSON to one server; connections are kept alive and shared by all calls of the process. */
export class HttpCalls {
  private readonly origin: string;

  constructor(
    url: string,
    private readonly timeoutMs = DEFAULT_TIMEOUT_MS,
  ) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError(`${JSON.stringify(url)} is no address of a server: http://HOST:PORT is`);
    }
    this.origin = url.replace(/\/+$/, '');
  }

  /** @returns the JSON of the answer, or its text. @throws ClientError, or the reason of the signal */
  async post(path: string, body: unknown, options: CallOptions = {}): Promise<unknown> {
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
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: end.signal,
      });
      text = await response.text();
    } catch (cause) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (isOverTime) throw new TimeoutError(`${this.origin} did not answer within ${limitMs} ms`);
      throw new UnreachableError(`no server answers at ${this.origin}`, { cause });
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    }
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const value = isJson ? parse(text) : text;
    if (response.ok) return value;
    const refusal = readRefusal(value, response.status);
    if (refusal !== undefined) throw refusal;
    throw new UnexpectedAnswerError(
      `${this.origin}${path} answers ${response.status} without an error of ours`,
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnexpectedAnswerError('the answer says that it is JSON and is none', { cause });
  }
}
