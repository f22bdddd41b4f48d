import type { ParsedInstruction } from './instructionParser.js';
import type { IrOperand } from './ir.js';
import type { FunctionScopes } from './scopes.js';
import { integer } from './literals.js';
import { refusedFor, Steps } from './steps.js';

/** Most arrivals that a phase of an mbarrier can expect. */
const mostArrivals = 2 ** 20 - 1;
/** Of the word of arrivals: they do not come again in the next phase. */
const DROPS = -(2 ** 31);

type Ready = Parameters<Steps['add']>[2];

/**
 * What operations on an mbarrier are made of: its 64 bits (`executor/arithmetic/mbarrierState.ts`) are stored by `init`, loaded
 * and compared by waits, and changed by one atomic operation, `mbarrier.advance`, in all others.
 */
export function mbarrierSteps(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const has = (...names: string[]): boolean => names.some((name) => parsed.modifiers.includes(name));
  if (has('advance')) return [parsed];
  const [first, second] = parsed.sources;
  const isRead = has('inval', 'pending_count') || (has('arrive', 'arrive_drop') && !has('expect_tx'));
  const most = has('try_wait') ? 3 : has('inval', 'pending_count') ? 1 : 2;
  // The check of its form says what is wrong.
  if (first === undefined || (second === undefined && !isRead) || parsed.sources.length > most)
    return [parsed];
  const steps = new Steps(parsed, scopes);
  if (has('pending_count')) return countPending(parsed, first, steps);
  if (first.kind !== 'address') return [parsed];
  const place = steps.shared(first);
  const wrong = wrongCount(parsed, second);
  if (wrong !== undefined) return [refusedFor(parsed, wrong)];
  if (has('init')) steps.add('st.shared.b64', [], [place, firstState(second ?? integer(0), steps)]);
  else if (has('inval')) steps.add('st.shared.b64', [], [place, integer(0)]);
  else if (has('test_wait', 'try_wait')) wait(parsed, place, second ?? integer(0), steps);
  else advance(parsed, place, second, steps);
  return steps.written;
}

/**
 * `cp.async.mbarrier.arrive`: copies are made where they are issued, so those before it are done. Without `.noinc` the phase
 * has been told of one arrival more, which has then come.
 */
export function arriveOfCopies(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const [place, ...rest] = parsed.sources;
  if (place?.kind !== 'address' || rest.length > 0) return [parsed];
  const steps = new Steps(parsed, scopes);
  const arrivals = parsed.modifiers.includes('noinc') ? 1 : 0;
  steps.add(
    `mbarrier.advance.release.cta.shared.b64`,
    [{ kind: 'sink' }],
    [steps.shared(place), steps.pair(integer(0), integer(arrivals))],
  );
  return steps.written;
}

function wrongCount({ modifiers }: ParsedInstruction, count: IrOperand | undefined): string | undefined {
  if (count?.kind !== 'integer' || !modifiers.some((each) => /^(?:init|arrive|arrive_drop)$/.test(each)))
    return undefined;
  const written = (BigInt(count.high) << 32n) | BigInt(count.low >>> 0);
  if (modifiers.includes('expect_tx'))
    return written >= 0n && written <= BigInt(mostArrivals)
      ? undefined
      : `${written} bytes: a phase waits for at most ${mostArrivals}`;
  return written >= 1n && written <= BigInt(mostArrivals)
    ? undefined
    : `count ${written}: an mbarrier counts 1 to ${mostArrivals} arrivals`;
}

/** Nothing has arrived, in phase 0. */
function firstState(count: IrOperand, steps: Steps): IrOperand {
  if (count.kind === 'integer') {
    const missing = BigInt(mostArrivals + 1 - count.low);
    return integer((missing << 43n) | (missing << 1n));
  }
  const missing = steps.make('sub.u32', [integer(mostArrivals + 1), count]);
  return steps.pair(
    steps.make('shl.b32', [missing, integer(1)]),
    steps.make('shl.b32', [missing, integer(11)]),
  );
}

function countPending(
  { destinations }: ParsedInstruction,
  state: IrOperand,
  steps: Steps,
): ParsedInstruction[] {
  const high = steps.make('cvt.u32.u64', [steps.make('shr.u64', [state, integer(43)])], 'u32');
  const missing = steps.make('sub.u32', [integer(0), high]);
  steps.add('and.b32', destinations, [missing, integer(mostArrivals)]);
  return steps.written;
}

/** A phase is over once the mbarrier's bit 63 is not that of the phase: of its state, or its parity. */
function wait(
  { destinations, modifiers }: ParsedInstruction,
  place: IrOperand,
  phase: IrOperand,
  steps: Steps,
): void {
  const order = modifiers.includes('relaxed') ? 'relaxed' : 'acquire';
  const now = steps.make(`ld.${order}.${scopeOf(modifiers)}.shared.b64`, [place]);
  if (!modifiers.includes('parity')) {
    steps.add('setp.lt.s64', destinations, [steps.make('xor.b64', [now, phase]), integer(0)]);
  } else if (phase.kind === 'integer') {
    steps.add((phase.low & 1) === 0 ? 'setp.lt.s64' : 'setp.ge.s64', destinations, [now, integer(0)]);
  } else {
    const bit = steps.pair(integer(0), steps.make('shl.b32', [phase, integer(31)]));
    steps.add('setp.lt.s64', destinations, [steps.make('xor.b64', [now, bit]), integer(0)]);
  }
}

function advance(
  { destinations, modifiers }: ParsedInstruction,
  place: IrOperand,
  operand: IrOperand | undefined,
  steps: Steps,
): void {
  const has = (name: string): boolean => modifiers.includes(name);
  const isArrival = has('arrive') || has('arrive_drop');
  const isOfBytes = has('expect_tx') || has('complete_tx');
  const given = operand ?? integer(1);
  const bytes = !isOfBytes ? integer(0) : has('complete_tx') ? negated(given, steps) : given;
  let arrivals = !isArrival ? integer(0) : has('expect_tx') ? integer(1) : given;
  if (has('arrive_drop'))
    arrivals =
      arrivals.kind === 'integer'
        ? integer(arrivals.low + DROPS)
        : steps.make('or.b32', [arrivals, integer(DROPS)]);
  // An arrival without a number of bytes orders what was before it, as PTX has it where nothing else is written.
  const order = isArrival && !has('relaxed') ? 'release' : 'relaxed';
  const sources: Ready = [place, steps.pair(bytes, arrivals)];
  steps.add(
    `mbarrier.advance.${order}.${scopeOf(modifiers)}.${has('shared::cluster') ? 'shared::cluster' : 'shared'}.b64`,
    destinations.length === 0 ? [{ kind: 'sink' }] : destinations,
    sources,
  );
}

function negated(value: IrOperand, steps: Steps): IrOperand {
  return value.kind === 'integer' ? integer(-value.low) : steps.make('neg.s32', [value]);
}

function scopeOf(modifiers: readonly string[]): 'cta' | 'cluster' {
  return modifiers.includes('cluster') ? 'cluster' : 'cta';
}
