/** What one write of a key came to. Times are of one clock. */
export interface HistoryWrite {
  readonly id: string;
  readonly key: string;
  readonly expected: number | 'any';
  readonly invoked: number;
  readonly returned: number;
  /** `refused`: another version was there; `unknown`: it may be made, or not, also after it returned. */
  readonly outcome: 'made' | 'refused' | 'failed' | 'unknown';
  /** Of one that is made. */
  readonly version?: number;
  /** What the writer had seen was not acknowledged itself, and may have gone: it may be refused for that. */
  readonly isBuiltOnOwn: boolean;
}

/** What is there in the end. */
export type FinalState = ReadonlyMap<string, { readonly version: number; readonly id: string }>;

/**
 * Whether a history of compare-and-set is linearisable: for each key there is one order of all acknowledged writes, in which
 * each wrote over the version that it expected, and which agrees with real time. Versions give that order, so that nothing
 * has to be searched for. Keys are never deleted.
 * @returns a sentence for each violation
 */
export function violations(history: readonly HistoryWrite[], end: FinalState): string[] {
  const byKey = new Map<string, HistoryWrite[]>();
  for (const write of history) {
    const writes = byKey.get(write.key);
    if (writes === undefined) byKey.set(write.key, [write]);
    else writes.push(write);
  }
  return [...byKey].flatMap(([key, writes]) => keyViolations(key, writes, end.get(key)));
}

function keyViolations(
  key: string,
  writes: readonly HistoryWrite[],
  end: { readonly version: number; readonly id: string } | undefined,
): string[] {
  const found: string[] = [];
  const last = end?.version ?? 0;
  const chain = new Map<number, HistoryWrite>();
  for (const write of writes) {
    const { id, expected, version = 0, outcome } = write;
    if (outcome !== 'made') continue;
    const other = chain.get(version);
    if (other !== undefined) found.push(`${key}: version ${version} was written by ${other.id} and ${id}`);
    if (expected !== 'any' && version !== expected + 1) {
      found.push(`${key}: ${id} expected ${expected} and wrote version ${version}`);
    }
    if (version > last) found.push(`${key}: version ${version} of ${id} was acknowledged and is lost`);
    chain.set(version, write);
  }
  const doubtful = writes.filter(({ outcome }) => outcome === 'unknown');
  const missing = last - chain.size;
  if (missing > doubtful.length) found.push(`${key}: ${missing} versions were written by nobody`);
  const top = chain.get(last);
  if (top !== undefined && top.id !== end?.id)
    found.push(`${key}: it holds ${end?.id}, and ${top.id} wrote last`);
  if (last > 0 && top === undefined && !doubtful.some(({ id }) => id === end?.id)) {
    found.push(`${key}: it holds ${end?.id}, which nobody wrote`);
  }
  found.push(...timeViolations(key, chain, last));
  for (const write of writes) {
    if (write.outcome === 'refused' && doubtful.length === 0 && isRefusedWrongly(write, chain)) {
      found.push(`${key}: ${write.id} was refused, and version ${write.expected} was there all the time`);
    }
  }
  return found;
}

/** A write that had returned before another was asked for must have the lower version. */
function timeViolations(key: string, chain: ReadonlyMap<number, HistoryWrite>, last: number): string[] {
  const found: string[] = [];
  let earliest: HistoryWrite | undefined;
  for (let version = last; version > 0; version--) {
    const write = chain.get(version);
    if (write === undefined) continue;
    if (earliest !== undefined && earliest.returned < write.invoked) {
      found.push(`${key}: ${earliest.id} had returned before ${write.id} began, and has the higher version`);
    }
    if (earliest === undefined || write.returned < earliest.returned) earliest = write;
  }
  return found;
}

function isRefusedWrongly(write: HistoryWrite, chain: ReadonlyMap<number, HistoryWrite>): boolean {
  const { expected, invoked, returned, isBuiltOnOwn } = write;
  if (isBuiltOnOwn) return false;
  if (expected === 'any') return true;
  const isThereBefore = expected === 0 || (chain.get(expected)?.returned ?? Infinity) < invoked;
  const next = chain.get(expected + 1);
  return isThereBefore && (next === undefined || next.invoked > returned);
}
