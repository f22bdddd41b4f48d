import { SeededRandom } from '../../../random/index.js';
import type { Fit, KernelSummary, SummaryAccess, SummaryNode, SummaryOperator } from '../../summary.js';

/** Draws whole numbers from 0 to below a bound. */
export type Draw = (below: number) => number;

export function seededDraw(seed: number): Draw {
  const random = new SeededRandom(seed);
  return (below) => random.below(below);
}

export const PARAMETER_BYTES = 32;

/** A summary whose nodes are drawn at random, each the address of a read: what evaluates it can be held to another. */
export function randomSummary(draw: Draw, size: number): KernelSummary {
  const nodes: SummaryNode[] = [];
  const truths: number[] = [];
  const values: number[] = [];
  const add = (operator: SummaryOperator, isTruth = false): void => {
    const index = nodes.push({ ...operator, uniform: false }) - 1;
    (isTruth ? truths : values).push(index);
  };
  add({ op: 'argument', offset: 0, bytes: 8, signed: false });
  add({ op: 'argument', offset: 8, bytes: 4, signed: true });
  add({ op: 'argument', offset: 12, bytes: 4, signed: false });
  add({ op: 'argument', offset: 16, bytes: 2, signed: draw(2) === 0 });
  add({ op: 'argument', offset: 18, bytes: 1, signed: draw(2) === 0 });
  add({ op: 'dimension', name: 'ntid.x' });
  add({ op: 'variable', variable: 0 });
  add({ op: 'variable', variable: 1 });
  add({ op: 'constant', value: draw(9) - 4 });
  add({ op: 'constant', value: 2 ** draw(40) });
  add(draw(2) === 0 ? { op: 'unknown' } : { op: 'unknown', lo: -draw(100), hi: draw(100) });
  const value = (): number => values[draw(values.length)] ?? 0;
  const truth = (): number => truths[draw(truths.length)] ?? 0;
  add({ op: 'less', a: value(), b: value() }, true);
  while (nodes.length < size) {
    const operator = randomOperator(draw, value, truth);
    add(operator, ['less', 'lessEqual', 'equal', 'not', 'and', 'or'].includes(operator.op));
  }
  const accesses = nodes.map<SummaryAccess>((_, index) => ({
    line: index,
    instruction: index,
    kind: 'read',
    bytes: 1,
    address: index,
    exact: index,
    conditions: [],
    narrowed: [],
    variables: [],
    bases: [],
  }));
  return {
    version: 1,
    kernel: 'random',
    class: 'conditional',
    reason: { text: '', lines: [] },
    nodes,
    variables: [
      { kind: 'thread', name: 'tid.x' },
      { kind: 'thread', name: 'ctaid.y' },
    ],
    conditions: [],
    accesses,
    isComplete: true,
    symbols: [],
  };
}

function randomOperator(draw: Draw, value: () => number, truth: () => number): SummaryOperator {
  const rounding = draw(2) === 0 ? 'floor' : 'zero';
  const bits = ([8, 16, 32, 64] as const)[draw(4)] ?? 32;
  const [a, b] = [value(), value()];
  const fit = (): Fit => ({ of: value(), bits, signed: draw(2) === 0 });
  const choices: readonly (() => SummaryOperator)[] = [
    () => ({ op: 'sum', constant: draw(200) - 100, terms: [a, b] }),
    () => ({ op: 'sum', constant: 0, terms: [a, b, value()] }),
    () => ({ op: 'scale', factor: draw(17) - 8 || 3, of: a }),
    () => ({ op: 'product', a, b }),
    () => ({ op: 'power', of: a }),
    () => ({ op: 'quotient', a, b, rounding }),
    () => ({ op: 'exactQuotient', a, b, divides: false }),
    () => ({ op: 'remainder', a, b, rounding }),
    () => ({ op: 'minimum', a, b }),
    () => ({ op: 'maximum', a, b }),
    () => ({ op: 'bits', operation: (['and', 'or', 'xor'] as const)[draw(3)] ?? 'and', a, b, bits }),
    () => ({ op: 'wrap', of: a, bits, signed: draw(2) === 0 }),
    () => ({ op: 'select', condition: truth(), a, b }),
    () => ({ op: draw(2) === 0 ? 'less' : 'lessEqual', a, b }),
    () => ({ op: 'equal', a, b }),
    () => ({ op: 'not', of: truth() }),
    () => ({ op: draw(2) === 0 ? 'and' : 'or', terms: [truth(), truth()] }),
    () => ({ op: 'assume', of: a, fits: [fit(), fit()] }),
    () => ({ op: 'hull', from: a, to: a }),
  ];
  return choices[draw(choices.length)]?.() ?? { op: 'constant', value: 0 };
}
