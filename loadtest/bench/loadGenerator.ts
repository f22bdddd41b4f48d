import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Doubles in each input. */
  readonly inputLength: number;
  /** Every request carries another input, so that no cache can answer; otherwise all carry the same one. */
  readonly unique: boolean;
  /** Makes the inputs of this call differ from those of any other. */
  readonly salt: number;
  /** Looks into every answer for whether it is the default, which costs the generator CPU. */
  readonly countDefaults?: boolean;
  /**
   * Inputs to send in turn instead of made-up ones, with values from 0 to 1: the first two of each are replaced by what tells
   * requests and calls apart.
   */
  readonly inputs?: readonly (readonly number[])[];
}

export interface LoadResult {
  readonly generator: 'wrk' | 'autocannon' | 'webSocketLoad' | 'webSocketClient';
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and sockets that failed. */
  readonly errors: number;
  /** Answers with the application's default output, where they were counted. */
  readonly defaults: number;
}

/** Of requests' numbers in given inputs: six are told apart by a 32-bit float from 0 to 1. */
const COUNT_DIGITS = 6;

const IS_DEFAULT = '"default":true';

/** wrk where the machine has it: autocannon takes about a third of two cores away from the server. */
export function chooseGenerator(): 'wrk' | 'autocannon' {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
    return 'wrk';
  } catch (error) {
    // `wrk -v` prints its version and exits with 1.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'autocannon' : 'wrk';
  }
}

export function load(generator: 'wrk' | 'autocannon', options: LoadOptions): Promise<LoadResult> {
  return generator === 'wrk' ? loadWithWrk(options) : loadWithAutocannon(options);
}

export interface WebSocketLoadOptions {
  /** The compiled `webSocketLoad.js`. */
  readonly entry: string;
  readonly url: string;
  readonly connections: number;
  /** Messages without an answer that each connection keeps. */
  readonly inFlight: number;
  readonly seconds: number;
  readonly inputLength: number;
  readonly salt: number;
}

/** Binary predictions over WebSockets, unique inputs, from a process of its own. */
export function loadWebSockets(options: WebSocketLoadOptions): Promise<LoadResult> {
  const args = [
    options.entry,
    ...['--url', options.url],
    ...['--connections', String(options.connections)],
    ...['--in-flight', String(options.inFlight)],
    ...['--seconds', String(options.seconds)],
    ...['--input-length', String(options.inputLength)],
    ...['--salt', String(options.salt)],
  ];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(`the WebSocket load generator failed: ${stderr || error.message}`));
        return;
      }
      const result = JSON.parse(stdout) as Omit<LoadResult, 'generator' | 'defaults'>;
      // One of a prediction is an error there.
      resolve({ generator: 'webSocketLoad', defaults: 0, ...result });
    });
  });
}

/** Tails that the inputs of one run share; the head counts requests. */
function inputTails({ inputs, inputLength, salt }: LoadOptions): string[] {
  if (inputs === undefined)
    return [Array.from({ length: inputLength - 1 }, (_, i) => (salt + i / 8).toFixed(3)).join(',')];
  return inputs.map((input) =>
    [salt / 1000, ...input.slice(2)].map((value) => String(Number(value.toFixed(4)))).join(','),
  );
}

/** What precedes the request's number in an input, and what follows: apart also as 32-bit floats. */
function headAround({ inputs }: LoadOptions): readonly [string, string] {
  return inputs === undefined ? ['', '.5'] : ['0.', ''];
}

function loadWithWrk(options: LoadOptions): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-bench-'));
  const script = join(folder, 'load.lua');
  const [before, after] = headAround(options);
  const digits = options.inputs === undefined ? '%d' : `%0${COUNT_DIGITS}d`;
  const tails = inputTails(options).map((tail) => `'${tail}'`);
  writeFileSync(
    script,
    `local n = 0
local tails = {${tails.join(',\n')}}
local threads = {}
defaults = 0
setup = function(thread)
  table.insert(threads, thread)
end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  ${options.unique ? 'n = n + 1' : ''}
  return wrk.format(nil, nil, nil, '{"input":[${before}' .. string.format('${digits}', n) .. '${after},' .. tails[n % #tails + 1] .. ']}')
end
${
  options.countDefaults === true
    ? `response = function(status, headers, body)
  if body:find('${IS_DEFAULT}', 1, true) then defaults = defaults + 1 end
end`
    : ''
}
done = function(summary, latency)
  local total = 0
  for _, thread in ipairs(threads) do total = total + thread:get("defaults") end
  io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"defaults":%d,"errors":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, total,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`,
  );
  const args = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '-s', script, options.url];
  return new Promise((resolve, reject) => {
    execFile('wrk', args, (error, stdout) => {
      rmSync(folder, { recursive: true });
      const line = stdout.split('\n').find((text) => text.startsWith('RESULT '));
      if (error || line === undefined) {
        reject(new Error(`wrk failed: ${error?.message ?? stdout}`));
        return;
      }
      const result = JSON.parse(line.slice(7)) as Record<
        'requests' | 'microseconds' | 'defaults' | 'errors' | 'p50' | 'p99',
        number
      >;
      resolve({
        generator: 'wrk',
        requests: result.requests,
        requestsPerSecond: (result.requests / result.microseconds) * 1e6,
        p50Ms: result.p50 / 1000,
        p99Ms: result.p99 / 1000,
        errors: result.errors,
        defaults: result.defaults,
      });
    });
  });
}

async function loadWithAutocannon(options: LoadOptions): Promise<LoadResult> {
  const tails = inputTails(options);
  const [before, after] = headAround(options);
  const body = (n: number): string => {
    const count = options.inputs === undefined ? String(n) : String(n).padStart(COUNT_DIGITS, '0');
    return `{"input":[${before}${count}${after},${tails[n % tails.length]}]}`;
  };
  let n = 0;
  let defaults = 0;
  const result = await autocannon({
    url: options.url,
    connections: options.connections,
    duration: options.seconds,
    requests: [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: body(0),
        ...(options.unique && {
          setupRequest: (request: autocannon.Request) => ({
            ...request,
            body: body(n++),
          }),
        }),
        ...(options.countDefaults === true && {
          onResponse: (_status: number, body: string) => {
            if (body.includes(IS_DEFAULT)) defaults += 1;
          },
        }),
      },
    ],
  });
  return {
    generator: 'autocannon',
    requests: result.requests.total,
    requestsPerSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result.errors + result.non2xx,
    defaults,
  };
}
