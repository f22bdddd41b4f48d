import type { Cause, KernelSummary, SummaryAccess } from '../summary.js';

/** A verdict with its reason. */
export interface Verdict {
  readonly idempotent: boolean;
  /** Of a refusal. */
  readonly cause?: Cause;
  readonly text: string;
  /** PTX lines of what the reason speaks of. */
  readonly lines?: readonly number[];
  /** Indices in the summary's accesses of a read and a write that may meet. */
  readonly collision?: { readonly read: number; readonly write: number };
}

interface Intervals {
  readonly lo: Float64Array;
  readonly hi: Float64Array;
}

interface Refusal {
  /** The global condition that does not hold, or −1. */
  readonly failed: number;
  readonly intervals: Intervals;
  /** What enumerating every thread says; undefined when there are too many, or nobody asked. */
  readonly byThread: boolean | undefined;
}

/** Why a launch of a conditional kernel is refused: exactly one cause (section 2.19). */
export function causeOf(summary: KernelSummary, refusal: Refusal): Verdict {
  const { accesses } = summary;
  const condition = summary.conditions[refusal.failed];
  if (condition !== undefined) {
    const { cause, text, line } = condition;
    return { idempotent: false, cause, text, lines: [line] };
  }
  const pairs = collisions(accesses, refusal.intervals);
  const [first] = pairs;
  if (first === undefined) {
    const text = 'a loop runs more often than it is unrolled';
    return { idempotent: false, cause: 'PE', text, lines: [] };
  }
  const told = (cause: Cause, text: string, collision: Collision): Verdict => ({
    idempotent: false,
    cause,
    text,
    lines: linesOf(accesses, collision),
    collision,
  });
  if (refusal.byThread === true)
    return told('RO', 'the intervals overlap, though no thread reads what another writes', first);
  const either = (pair: Collision): readonly SummaryAccess[] =>
    [accesses[pair.write], accesses[pair.read]].filter((each) => each !== undefined);
  for (const pair of pairs) {
    const unknown = either(pair).find((access) => access.unknown !== undefined)?.unknown;
    if (unknown !== undefined)
      return told(unknown.cause, `an address that no argument gives (${unknown.text})`, pair);
  }
  for (const pair of pairs) {
    const unsure = either(pair).find((access) => access.conditionUnknown !== undefined)?.conditionUnknown;
    if (unsure !== undefined)
      return told('NC', `a condition that no argument decides (${unsure.text}) is taken to hold`, pair);
  }
  for (const pair of pairs) {
    if ([pair.read, pair.write].every((at) => isBounded(refusal.intervals, at))) continue;
    return either(pair).some((access) => isEndless(summary, access))
      ? told('PE', 'a loop whose length no argument tells', pair)
      : told('RO', 'an address beyond what is computed exactly, or that may wrap around', pair);
  }
  const { lo, hi } = refusal.intervals;
  const same = pairs.filter(
    ({ read, write }) =>
      accesses[read]?.exact === accesses[write]?.exact || (lo[read] === lo[write] && hi[read] === hi[write]),
  );
  const [earlier] = same;
  if (earlier !== undefined && pairs.every(({ read }) => accesses[read]?.writtenFirst === true))
    return told('MO', 'bytes are written first and read later', earlier);
  if (earlier !== undefined) return told('SO', 'the same address is read and written', earlier);
  if (refusal.byThread === undefined)
    return told('RO', 'the intervals overlap, and there are too many threads to look at each', first);
  return told('MO', 'bytes are both read and written, in whatever order', first);
}

interface Collision {
  readonly read: number;
  readonly write: number;
}

function isEndless({ variables, nodes }: KernelSummary, access: SummaryAccess): boolean {
  return access.variables.some((index) => {
    const variable = variables[index];
    return variable?.kind === 'counter' && nodes[variable.count]?.op === 'unknown';
  });
}

function isBounded({ lo, hi }: Intervals, at: number): boolean {
  return Number.isFinite(lo[at]) && Number.isFinite(hi[at]);
}

/** Reads and writes whose intervals overlap; at most a few hundred. */
function collisions(accesses: readonly SummaryAccess[], { lo, hi }: Intervals): Collision[] {
  const found: Collision[] = [];
  accesses.forEach((write, at) => {
    if (write.kind !== 'write' || !((lo[at] ?? 0) <= (hi[at] ?? 0))) return;
    accesses.forEach((read, other) => {
      if (read.kind !== 'read' || found.length > 256) return;
      const [first, last] = [lo[other] ?? 0, hi[other] ?? 0];
      if (first <= last && first <= (hi[at] ?? 0) && (lo[at] ?? 0) <= last)
        found.push({ read: other, write: at });
    });
  });
  return found;
}

function linesOf(accesses: readonly SummaryAccess[], { read, write }: Collision): number[] {
  const lines = [accesses[read]?.line, accesses[write]?.line].filter((line) => line !== undefined);
  return [...new Set(lines)].sort((a, b) => a - b);
}
