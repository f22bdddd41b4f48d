import type { CallGraph } from './callGraph.js';
import { integer } from '../../literals.js';
import { register, type DraftCode } from './draftCode.js';

/** As executors lay functions out: one address each, so far apart. */
const LOG2_FUNCTION_STRIDE = 7;
/** With fewer candidates, comparing with each is as good as a table. */
const FEWEST_FOR_TABLE = 4;

/**
 * Calls the candidate that a pointer names. What is none of them faults: `illegalInstruction`, or
 * `unsupportedInstruction` for a function that this simulator cannot run.
 */
export function emitDispatch(
  code: DraftCode,
  line: number,
  pointer: number,
  candidates: readonly string[],
  graph: CallGraph,
  call: (name: string) => void,
): void {
  const { names } = code;
  const none = names.label('$nowhere');
  const merge = names.label('$called');
  const targets = candidates.map((name) => ({ name, label: names.label(`$call$${name}`) }));
  if (candidates.length < FEWEST_FOR_TABLE) compare(code, line, pointer, targets);
  else jumpThroughTable(code, line, pointer, targets, none, graph);
  code.place(none);
  code.add(line, 'trap.illegalInstruction', {});
  for (const { name, label } of targets) {
    code.place(label);
    const fn = graph.find(name);
    if (fn === undefined || graph.refusalOf(fn) !== undefined)
      code.add(line, 'trap.unsupportedInstruction', {});
    else {
      call(name);
      code.branch(line, merge);
    }
  }
  code.place(merge);
}

interface Target {
  readonly name: string;
  readonly label: number;
}

function compare(code: DraftCode, line: number, pointer: number, targets: readonly Target[]): void {
  for (const { name, label } of targets) {
    const own = code.names.register('%function', 'b64');
    const isIt = code.names.register('%isFunction', 'pred');
    code.add(line, 'mov.u64', {
      destinations: [register(own)],
      sources: [{ kind: 'symbol', name, offset: 0 }],
    });
    code.add(line, 'setp.eq.u64', {
      destinations: [register(isIt)],
      sources: [register(pointer), register(own)],
    });
    code.branch(line, label, { register: isIt, negated: false });
  }
}

/** Rotating the distance from the first function turns an address between two functions into a huge number. */
function jumpThroughTable(
  code: DraftCode,
  line: number,
  pointer: number,
  targets: readonly Target[],
  none: number,
  graph: CallGraph,
): void {
  const { names } = code;
  const order = [...targets].sort((a, b) => graph.positionOf(a.name) - graph.positionOf(b.name));
  const first = order[0];
  const last = order.at(-1);
  if (first === undefined || last === undefined) return;
  const wide = (name: string): number => names.register(name, 'b64');
  const [start, distance, low, high, rotated] = ['%first', '%distance', '%low', '%high', '%rotated'].map(
    wide,
  ) as [number, number, number, number, number];
  const index = names.register('%index', 'b32');
  const add = (name: string, to: number, ...from: number[]): void =>
    code.add(line, name, { destinations: [register(to)], sources: from.map(register) });
  const shift = (name: string, to: number, from: number, by: number): void =>
    code.add(line, name, { destinations: [register(to)], sources: [register(from), integer(by)] });
  code.add(line, 'mov.u64', {
    destinations: [register(start)],
    sources: [{ kind: 'symbol', name: first.name, offset: 0 }],
  });
  add('sub.s64', distance, pointer, start);
  shift('shr.u64', low, distance, LOG2_FUNCTION_STRIDE);
  shift('shl.b64', high, distance, 64 - LOG2_FUNCTION_STRIDE);
  add('or.b64', rotated, low, high);
  code.add(line, 'min.u64', {
    destinations: [register(rotated)],
    sources: [register(rotated), integer(0x7fffffff)],
  });
  add('cvt.u32.u64', index, rotated);
  const labelOf = new Map(order.map(({ name, label }) => [graph.positionOf(name), label]));
  const base = graph.positionOf(first.name);
  const labels = Array.from({ length: graph.positionOf(last.name) - base + 1 }, (_, at) => ({
    kind: 'label' as const,
    block: labelOf.get(base + at) ?? none,
  }));
  code.add(line, 'brx.idx', { sources: [register(index), ...labels] });
}
