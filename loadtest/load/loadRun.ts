import { constants, setPriority } from 'node:os';
import { openTrace, type Trace } from '../trace/index.js';
import { Alarm } from './alarm.js';
import { ApplicationMix } from './applicationMix.js';
import { cannonLoop } from './cannonLoop.js';
import { closedLoop } from './closedLoop.js';
import type { LoadCounts } from './loadCounts.js';
import type { LoadPlan } from './loadPlan.js';
import { INTERRUPTED, lateEnding } from './endings.js';
import { LoadTraffic, poolsOf } from './loadTraffic.js';
import { openLoop } from './openLoop.js';
import { HTTP_FORMS, openSender, type Sender } from './senders/index.js';
import { wallNs } from './wallClock.js';

export interface RunProgress {
  readonly arrivals: number;
  readonly answers: number;
  readonly inFlight: number;
  /** Of the trace that was read; undefined: it has no end. */
  readonly share: number | undefined;
}

export interface RunPart {
  readonly part: number;
  /** Resolves with the moment of the start, by `wallNs`, once all parts can begin. */
  readonly ready: () => Promise<number>;
  readonly onProgress: (progress: RunProgress) => void;
  /** Ends it early; what has been counted is kept. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 250;
/** Queries before lateness is judged: of fewer, one hiccup is more than one in a hundred. */
const LATENESS_COUNT = 500;
const WARM_UP_PER_SECOND = 200;
const OTHER_SEED = 0x5bd1e995;

/**
 * Makes one process's part of a load.
 * @throws LoadError of the trace or an input, ClientError when a connection cannot be opened
 */
export async function runLoad(plan: LoadPlan, part: RunPart): Promise<LoadCounts> {
  const trace = plan.trace === undefined ? undefined : openTrace(dealt(plan, plan.trace));
  try {
    const sender = await openSender(plan);
    try {
      return await withSender(plan, sender, trace, part);
    } finally {
      await sender.close();
    }
  } finally {
    trace?.close();
  }
}

async function withSender(
  plan: LoadPlan,
  sender: Sender,
  trace: Trace | undefined,
  runPart: RunPart,
): Promise<LoadCounts> {
  goFirst();
  const alarm = trace === undefined ? undefined : await Alarm.start();
  try {
    await sender.warmUp();
    if (plan.warmUpSeconds > 0 && !runPart.signal.aborted) await warmUp(plan, sender, alarm, runPart);
    return await asked(plan, sender, trace, alarm, runPart);
  } finally {
    await alarm?.close();
  }
}

/** Code that has not run yet is slow, here and in the server: queries like those that will count, which do not count. */
async function warmUp(
  plan: LoadPlan,
  sender: Sender,
  alarm: Alarm | undefined,
  { part, onProgress, signal }: RunPart,
): Promise<void> {
  const { seed, warmUpSeconds: seconds } = plan;
  const spec = `poisson:${WARM_UP_PER_SECOND}`;
  const trace = plan.trace === undefined ? undefined : { spec, seed, scale: 1, durationSeconds: seconds };
  // Inputs that were asked before would be in the cache.
  const others = { seed: (seed ^ OTHER_SEED) >>> 1, lateLimitMs: undefined, answersFile: undefined };
  const warming: LoadPlan = { ...plan, ...others, trace, seconds, feedback: { ...plan.feedback, share: 0 } };
  const opened = trace === undefined ? undefined : openTrace(dealt(warming, trace));
  try {
    await asked(warming, sender, opened, alarm, {
      part,
      ready: () => Promise.resolve(wallNs()),
      onProgress,
      signal,
    });
  } finally {
    opened?.close();
  }
}

async function asked(
  plan: LoadPlan,
  sender: Sender,
  trace: Trace | undefined,
  alarm: Alarm | undefined,
  { part, ready, onProgress, signal }: RunPart,
): Promise<LoadCounts> {
  // Inputs of a file or a data set take their time to read: before the start, not in its first queries' time.
  const pools = poolsOf(plan);
  const startNs = await ready();
  const traffic = new LoadTraffic(plan, pools, sender, startNs);
  const { counts } = traffic;
  const ending = new AbortController();
  traffic.onHopeless = () => ending.abort();
  const onAbort = (): void => traffic.giveUp(INTERRUPTED);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const look = setInterval(() => {
    onProgress(progressOf(traffic, trace));
    checkLateness(plan, traffic);
  }, LOOK_MS);
  try {
    const common = { sender, traffic, part, parts: plan.processes, signal: ending.signal };
    if (trace !== undefined && alarm !== undefined) {
      await openLoop({ ...common, trace, alarm, startNs, untilNs: (plan.seconds ?? Infinity) * 1e9 });
    } else {
      await untilStart(startNs);
      await closed(plan, common);
    }
    await drained(plan, traffic, ending.signal);
    onProgress(progressOf(traffic, trace));
    return counts;
  } finally {
    clearInterval(look);
    signal.removeEventListener('abort', onAbort);
    traffic.close();
  }
}

/** A closed loop over HTTP is autocannon's; over TLS it would take any certificate, and WebSockets it has none. */
async function closed(
  plan: LoadPlan,
  common: { sender: Sender; traffic: LoadTraffic; part: number; parts: number; signal: AbortSignal },
): Promise<void> {
  const seconds = plan.seconds ?? 0;
  const { mode, connections, inFlight } = plan;
  if (mode === 'websocket' || plan.url.startsWith('https:')) {
    await closedLoop({ ...common, seconds, lanes: connections * inFlight });
  } else {
    await cannonLoop({ ...common, plan, seconds, form: HTTP_FORMS[mode] });
  }
}

/** Functions of a trace are dealt to applications by weight, each as a whole. */
function dealt(plan: LoadPlan, trace: NonNullable<LoadPlan['trace']>) {
  const { applications, seed } = plan;
  const mix = new ApplicationMix(applications, seed);
  return {
    ...trace,
    deal: { groups: applications.length, of: (key: string) => mix.drawn(`function ${key}`) },
  };
}

function progressOf(traffic: LoadTraffic, trace: Trace | undefined): RunProgress {
  const tallies = [...traffic.counts.tallies.values()];
  return {
    arrivals: tallies.reduce((sum, { arrivals }) => sum + arrivals, 0),
    answers: tallies.reduce((sum, { answers }) => sum + answers, 0),
    inFlight: traffic.inFlight,
    share: trace?.progress(),
  };
}

/** A load that leaves late is not the one that was asked for. */
function checkLateness({ lateLimitMs }: LoadPlan, traffic: LoadTraffic): void {
  const { lateness } = traffic.counts;
  if (lateLimitMs === undefined || lateness.count < LATENESS_COUNT) return;
  const p99Ms = lateness.quantileMs(99);
  if (p99Ms <= lateLimitMs) return;
  traffic.giveUp(lateEnding(p99Ms, lateLimitMs));
}

/** Where the system lets it, this process goes before others: what it does is little, and must be done at its time. */
function goFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}

async function untilStart(startNs: number): Promise<void> {
  const waitMs = (startNs - wallNs()) / 1e6;
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** Waits for what is under way: no longer than a query may take. */
async function drained(
  { timeoutMs, feedback }: LoadPlan,
  traffic: LoadTraffic,
  signal: AbortSignal,
): Promise<void> {
  const untilNs = wallNs() + (timeoutMs + (feedback.share > 0 ? feedback.delayMs * 5 : 0)) * 1e6;
  const mayWait = () => !signal.aborted && wallNs() < untilNs;
  while (!traffic.isDrained && mayWait()) await new Promise((resolve) => setTimeout(resolve, 10));
  traffic.counts.unanswered += traffic.inFlight;
}
