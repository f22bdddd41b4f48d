import {
  checkApart,
  CommandError,
  connectionOf,
  OutputFile,
  interruption,
} from '../../services/cli/index.js';
import { RefusedError } from '../../services/client/index.js';
import { comparisonText, readRunFile, runPage } from '../page/index.js';
import { ProgressBar, resultJson, windowsCsv, type RunResult } from '../result/index.js';
import {
  DEFAULT_SECONDS,
  endsByItself,
  LoadError,
  openTrace,
  traceChoices,
  type TraceRequest,
} from '../trace/index.js';
import { AnswersFile } from './answersFile.js';
import { INTERRUPTED } from './endings.js';
import { findLimit } from './findLimit.js';
import type { LoadtestOptions } from './loadCommand.js';
import type { LoadMode, LoadPlan } from './loadPlan.js';
import { makeLoad } from './loadProcesses.js';
import { loadResult } from './loadReport.js';
import type { RunProgress } from './loadRun.js';
import { applicationsOf } from './loadTarget.js';
import { type MetricsChange, ServerView } from './server/index.js';
import { ServerWatch } from './serverWatch.js';
import { wallNs } from './wallClock.js';

/** Of an objective, what a load generator may be late itself. */
const LATE_SHARE = 0.05;
const CONNECTIONS: Readonly<Record<'open' | 'closed' | 'websocket', number>> = {
  open: 256,
  closed: 16,
  websocket: 4,
};
const IN_FLIGHT = 8;

/** JSON on standard output, the report to its file. A load that ended early is reported as far as it went, with exit code 1, or that of the signal. */
export async function runLoadtest(options: LoadtestOptions): Promise<void> {
  const files = outputsOf(options);
  const earlier = options.compare === undefined ? undefined : readRunFile(options.compare, '--compare');
  const interrupt = interruption();
  const bar = new ProgressBar(process.stderr);
  try {
    const { plan, view, meanPerSecond } = await unlessStopped(planOf(options), interrupt.signal);
    const run = (scaled: LoadPlan) => runOnce(scaled, view, bar, interrupt.signal);
    const result =
      options.findLimit === undefined
        ? await run(plan)
        : await searchLimit(options, plan, meanPerSecond, run, interrupt.signal);
    bar.clear();
    // First: a disk that is full must not cost what was found.
    process.stdout.write(resultJson(result));
    files.report?.write(runPage(result));
    files.csv?.write(windowsCsv(result));
    files.report?.close();
    files.csv?.close();
    if (earlier !== undefined) process.stderr.write(comparisonText([earlier, { name: 'this run', result }]));
    process.stderr.write(`${summaryOf(result)}\n`);
    if (result.endedEarly !== null) throw new CommandError(`ended early: ${result.endedEarly}`);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    throw new CommandError(error.message, { cause: error });
  } finally {
    interrupt.end();
    bar.clear();
  }
}

async function runOnce(
  plan: LoadPlan,
  view: ServerView,
  bar: ProgressBar,
  signal: AbortSignal,
): Promise<RunResult> {
  const metrics = await unlessStopped(view.metrics(), signal);
  if (metrics instanceof RefusedError) {
    process.stderr.write(`windjammer: the report has no parts of the server: ${metrics.message}\n`);
  }
  if (plan.answersFile !== undefined) AnswersFile.empty(plan.answersFile);
  let watch: ServerWatch | undefined;
  let startNs = wallNs();
  const showTo = (progress: RunProgress): void =>
    bar.update(shareOf(plan, progress, startNs), progressText(progress, startNs));
  const begin = async (): Promise<void> => {
    const first = plan.warmUpSeconds === 0 ? metrics : await view.metrics();
    watch = first instanceof RefusedError ? undefined : new ServerWatch(view, first);
    watch?.begin();
    startNs = wallNs();
  };
  try {
    const counts = await makeLoad(plan, showTo, signal, begin);
    return loadResult({ plan, counts, startNs, watch, change: await lastLook(watch, signal) });
  } finally {
    watch?.stop();
    bar.clear();
  }
}

/** What nothing is found without. @throws CommandError (as a rejection) once it is interrupted, whatever becomes of the work */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new CommandError(INTERRUPTED));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject);
  });
}

/** A server that does not answer keeps nobody who has told the load to end. */
const LAST_LOOK_MS = 1000;

async function lastLook(
  watch: ServerWatch | undefined,
  signal: AbortSignal,
): Promise<MetricsChange | undefined> {
  if (watch === undefined || !signal.aborted) return watch?.end();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LAST_LOOK_MS);
  });
  try {
    return await Promise.race([watch.end(), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function searchLimit(
  { findLimit: range, percentile }: LoadtestOptions,
  plan: LoadPlan,
  meanPerSecond: number | undefined,
  run: (plan: LoadPlan) => Promise<RunResult>,
  signal: AbortSignal,
): Promise<RunResult> {
  const { trace } = plan;
  if (range === undefined || trace === undefined || meanPerSecond === undefined) {
    throw new LoadError(
      '--find-limit',
      'it needs a --trace with a rate, such as poisson:1, whose rate it changes',
    );
  }
  let seed = plan.seed;
  const { tried, brokenOff } = await findLimit({
    ...range,
    percentile,
    run: (perSecond) => {
      if (signal.aborted) throw new CommandError('the search was interrupted');
      // Inputs that were asked before would be in the cache.
      seed += 1;
      return run({ ...plan, seed, trace: { ...trace, scale: (trace.scale * perSecond) / meanPerSecond } });
    },
    onTried: ({ perSecond, why, result }) => {
      const outcome = why === undefined ? 'kept' : `not kept: ${why}`;
      const p = result.latency?.p99Ms.toFixed(2) ?? '-';
      process.stderr.write(`${perSecond.toFixed(1)} a second: p99 ${p} ms, ${outcome}\n`);
    },
  });
  const best = tried.filter(({ isKept }) => isKept).sort((a, b) => b.perSecond - a.perSecond)[0];
  if (best === undefined) {
    // Of the only run there is what it has come to.
    if (brokenOff?.result !== undefined) return brokenOff.result;
    const why = brokenOff === undefined ? (tried[0].why ?? '') : `and ${brokenOff.why}`;
    throw new CommandError(`not even ${range.low} a second keep the objective: ${why}`);
  }
  const isAll = best.perSecond === range.high || brokenOff !== undefined;
  process.stderr.write(`${isAll ? 'at least' : 'the limit is'} ${best.perSecond.toFixed(1)} a second\n`);
  if (brokenOff === undefined) return best.result;
  return { ...best.result, endedEarly: `the search for the limit was broken off: ${brokenOff.why}` };
}

interface PlannedLoad {
  readonly plan: LoadPlan;
  readonly view: ServerView;
  readonly meanPerSecond: number | undefined;
}

/** @throws LoadError, CommandError, ClientError */
async function planOf(options: LoadtestOptions): Promise<PlannedLoad> {
  const { url, timeoutMs, mode, seed, processes, duration } = options;
  checkTogether(options);
  const trace = traceOf(options);
  const meanPerSecond = trace === undefined ? undefined : surveyed(trace);
  const connection = connectionOf(options);
  const view = serverOf(url, connection, timeoutMs);
  const isFile = trace !== undefined && endsByItself(trace.spec);
  const applications = await applicationsOf(view, await view.metrics(), {
    mode,
    apps: options.app,
    objectiveMs: options.objectiveMs,
    isFile,
  });
  const objectiveMs = Math.min(...applications.map((one) => one.objectiveMs));
  const plan: LoadPlan = {
    url,
    connection,
    mode,
    trace,
    seconds: duration ?? (isFile ? undefined : DEFAULT_SECONDS),
    warmUpSeconds: options.warmUp,
    seed,
    connections: options.connections ?? CONNECTIONS[connectionsOf(mode, trace)],
    inFlight: mode === 'websocket' ? (options.inFlight ?? IN_FLIGHT) : 1,
    applications,
    inputs: options.inputs,
    repeats: options.repeats,
    feedback: { share: options.feedback, delayMs: options.feedbackDelayMs, lag: options.feedbackLag },
    timeoutMs,
    lateLimitMs: options.lateLimitMs ?? objectiveMs * LATE_SHARE,
    answersFile: options.saveAnswers,
    processes,
  };
  return { plan, view, meanPerSecond };
}

function connectionsOf(mode: LoadMode, trace: TraceRequest | undefined): keyof typeof CONNECTIONS {
  if (mode === 'websocket') return mode;
  return trace === undefined ? 'closed' : 'open';
}

/** Options that make no sense beside each other. */
function checkTogether({ mode, feedback, trace, ...options }: LoadtestOptions): void {
  if (mode === 'v2' && feedback > 0) {
    throw new LoadError('--feedback', 'the Open Inference Protocol has none: use --mode http or websocket');
  }
  if (options.inFlight !== undefined && (mode !== 'websocket' || trace !== undefined)) {
    throw new LoadError(
      '--in-flight',
      'it is for closed loops over WebSockets: --mode websocket without --trace',
    );
  }
  if (trace === undefined) {
    for (const [option, value] of [
      ['--format', options.format],
      ['--time-unit', options.timeUnit],
      ['--column', options.column?.[0]],
      ['--spread', options.spread],
      ['--find-limit', options.findLimit === undefined ? undefined : ''],
      ['--late-limit-ms', options.lateLimitMs],
      ['--scale', options.scale === 1 ? undefined : options.scale],
    ] as const) {
      if (value !== undefined) throw new LoadError(option, 'it is for a --trace, and a closed loop has none');
    }
  }
}

function traceOf(options: LoadtestOptions): TraceRequest | undefined {
  const { trace: spec, seed, scale, duration: durationSeconds } = options;
  return spec === undefined ? undefined : { spec, seed, scale, durationSeconds, ...traceChoices(options) };
}

/** Says what a trace holds. @throws LoadError */
function surveyed(request: TraceRequest): number | undefined {
  const trace = openTrace(request);
  try {
    for (const line of trace.summary) process.stderr.write(`${line}\n`);
    return trace.meanPerSecond;
  } finally {
    trace.close();
  }
}

function serverOf(...[url, connection, timeoutMs]: ConstructorParameters<typeof ServerView>): ServerView {
  try {
    return new ServerView(url, connection, timeoutMs);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new CommandError(cause.message, { cause });
  }
}

/** Before anything is run: nobody wants to learn afterwards that a report has no place. */
function outputsOf({ report, csv, saveAnswers, compare, trace, inputs }: LoadtestOptions): {
  readonly report: OutputFile | undefined;
  readonly csv: OutputFile | undefined;
} {
  const named = (path: string | undefined, option: string) =>
    path === undefined ? undefined : new OutputFile(path, option);
  const files = { report: named(report, '--report'), csv: named(csv, '--csv') };
  checkApart(
    [files.report, files.csv, named(saveAnswers, '--save-answers')].filter((file) => file !== undefined),
    [
      { what: 'the file of --compare', path: compare },
      { what: 'the file of --trace', path: trace },
      { what: 'the file of --inputs', path: inputs },
    ],
  );
  return files;
}

function shareOf({ seconds }: LoadPlan, { share }: RunProgress, startNs: number): number | undefined {
  const ofTime = seconds === undefined ? 0 : Math.min(1, (wallNs() - startNs) / (seconds * 1e9));
  const most = Math.max(ofTime, share ?? 0);
  return most === 0 ? undefined : most;
}

function progressText({ arrivals, answers, inFlight }: RunProgress, startNs: number): string {
  const seconds = ((wallNs() - startNs) / 1e9).toFixed(1);
  return `${seconds} s, ${arrivals} queries, ${answers} answers, ${inFlight} under way`;
}

function summaryOf({
  answers,
  predictions,
  latency,
  goodputPerSecond,
  durationSeconds,
  load,
}: RunResult): string {
  const lateness = load?.lateness;
  const ms = (value: number | undefined): string => (value === undefined ? '-' : `${value.toFixed(2)} ms`);
  const late =
    lateness === null || lateness === undefined
      ? ''
      : `; the load generator's own lateness: p99 ${ms(lateness.p99Ms)}`;
  return (
    `${answers} answers, ${predictions} of them predictions, in ${durationSeconds.toFixed(1)} s; ` +
    `p50 ${ms(latency?.p50Ms)}, p99 ${ms(latency?.p99Ms)}; ${goodputPerSecond.toFixed(1)} in time a second${late}`
  );
}
