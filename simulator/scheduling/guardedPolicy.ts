import { reasonOf } from '../text/index.js';
import {
  SchedulingError,
  type DeviceView,
  type SchedulingDecision,
  type SchedulingPolicy,
} from './policy.js';

/** Decisions one after another in which no block is dispatched or comes to its end: such a policy never gets on. */
const MOST_IDLE_DECISIONS = 2_000_000;

/**
 * A policy that somebody else wrote, held to what a decision must be: each mistake is told with the policy's name and what it
 * answered. Whether a kill is safe and blocks are there the device checks itself.
 */
export function guardedPolicy(inner: SchedulingPolicy): SchedulingPolicy {
  let idle = 0;
  let done = -1;
  const guarded: SchedulingPolicy = {
    name: inner.name,
    ...(inner.preempts === undefined ? {} : { preempts: inner.preempts }),
    get nextInLine() {
      return inner.nextInLine;
    },
    decide(view: DeviceView): SchedulingDecision {
      const decision: unknown = guard(inner.name, 'decide', () => inner.decide(view));
      const mistake = mistakeIn(decision, view);
      if (mistake !== undefined) throw invalid(inner.name, mistake);
      const checked = decision as SchedulingDecision;
      const ended = view.launches.reduce((sum, { doneBlocks }) => sum + doneBlocks, 0);
      idle = checked.kind === 'dispatch' || ended !== done ? 0 : idle + 1;
      done = ended;
      if (idle > MOST_IDLE_DECISIONS) {
        throw invalid(inner.name, `${idle} decisions, and no block was dispatched or came to its end`);
      }
      return checked;
    },
    snapshot: () => guard(inner.name, 'snapshot', () => inner.snapshot()),
    restore: (state) => guard(inner.name, 'restore', () => inner.restore(state)),
    ...(inner.takesTurns === undefined ? {} : { takesTurns: inner.takesTurns }),
    ...(inner.onIdle === undefined
      ? {}
      : { onIdle: (nowNs: number) => guard(inner.name, 'onIdle', () => inner.onIdle?.(nowNs)) }),
  };
  if (inner.mayKill === undefined) return guarded;
  const mayKill = inner.mayKill.bind(inner);
  return Object.defineProperty(guarded, 'mayKill', {
    enumerable: true,
    value: (launch: Parameters<typeof mayKill>[0]) =>
      guard(inner.name, 'mayKill', () => mayKill(launch)) === true,
  });
}

function guard<T>(name: string, method: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    const reason = reasonOf(error);
    throw new SchedulingError('invalidDecision', `policy '${name}': ${method} threw: ${reason}`, {
      cause: error,
    });
  }
}

const KINDS = ['dispatch', 'hold', 'kill', 'save', 'restore', 'drain'];

/** What is wrong with a decision; undefined when it is one. */
function mistakeIn(decision: unknown, view: DeviceView): string | undefined {
  if (typeof decision !== 'object' || decision === null) {
    return `decide returned ${told(decision)}; return an object with a kind: ${KINDS.join(', ')}`;
  }
  const { kind, launch, blocks, tpcMask, untilNs, replay } = decision as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || !KINDS.includes(kind)) {
    const hint = decision instanceof Promise ? ' (a promise: decide must not be async)' : '';
    return `kind is ${told(kind)}${hint}; there are: ${KINDS.join(', ')}`;
  }
  if (kind === 'hold') {
    if (untilNs === undefined || (typeof untilNs === 'number' && untilNs > view.nowNs)) return undefined;
    return `hold: untilNs is ${told(untilNs)}, and now is ${view.nowNs}; give a later time or leave it out`;
  }
  if (!view.launches.some(({ id }) => id === launch)) {
    const ids = view.launches.map(({ id }) => id).join(', ');
    return `${kind}: launch is ${told(launch)}, which is not there; there are: ${ids || 'none'}`;
  }
  if (kind === 'kill' && replay !== undefined && replay !== 'all' && replay !== 'unfinished') {
    return `kill: replay is ${told(replay)}; give 'all' or 'unfinished'`;
  }
  if (kind !== 'dispatch') return undefined;
  if (typeof blocks !== 'number' || !Number.isInteger(blocks) || blocks < 1) {
    return `dispatch: blocks is ${told(blocks)}; give a whole number of at least 1`;
  }
  if (tpcMask !== undefined && typeof tpcMask !== 'bigint') {
    return `dispatch: tpcMask is ${told(tpcMask)}; give a bigint with a bit for each TPC, or leave it out`;
  }
  return undefined;
}

function told(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'number' || typeof value === 'bigint'
    ? `${value}`
    : `a value of type ${typeof value}`;
}

function invalid(name: string, what: string): SchedulingError {
  return new SchedulingError('invalidDecision', `policy '${name}': ${what}`);
}
