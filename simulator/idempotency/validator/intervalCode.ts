import type { Fit, KernelSummary, SummaryNode } from '../summary.js';
import { argument, dimension, number, prelude, stored } from './asmText.js';
import { MOST } from './exactNumbers.js';
import { FOUND_AT, GIVEN_AT, type LaunchHeap, symbolsAfter } from './launchHeap.js';
import { NodeCode } from './nodeCode.js';
import { pointNodes } from './nodeGraph.js';

const ONE = '1.0';
const ZERO = '0.0';

/**
 * Code of the interval reading of nodes: ends in `l<i>` and `h<i>`. With `usesPoints` what is one number at launch is one number
 * in the code too, `p<i>`, and whatever leaves the safe integers there ends the function with 2: then the same code without
 * points has to judge. All arithmetic is that of whole numbers in floating point, exact because every result beyond ±2^53 is
 * noticed before it is used.
 */
export abstract class IntervalCode extends NodeCode {
  private readonly points: readonly boolean[];
  private readonly symbols: readonly string[];
  private readonly symbolsAt: number;
  private readonly parameterBytes: number;
  /** Numbers and whole numbers that are declared before all else. */
  private readonly numbers = new Set<string>();
  private readonly integers = new Set<string>();
  private readonly helpers = new Set<string>();

  constructor(summary: KernelSummary, usesPoints: boolean, slots: number) {
    super(summary);
    this.points = usesPoints ? pointNodes(summary) : [];
    const { nodes } = summary;
    this.symbols = [...new Set(nodes.flatMap((node) => (node.op === 'symbol' ? [node.name] : [])))];
    this.symbolsAt = symbolsAfter(slots);
    this.parameterBytes = nodes.reduce(
      (most, node) => (node.op === 'argument' ? Math.max(most, node.offset + node.bytes) : most),
      0,
    );
  }

  /** Makes the generated functions, given what stands before them and in them. */
  protected get declarations(): string {
    return [
      ...[...this.numbers].map((name) => `var ${name} = 0.0;`),
      ...[...this.integers].map((name) => `var ${name} = 0;`),
    ].join('\n');
  }

  protected get prelude(): string {
    return prelude(this.helpers);
  }

  /** Puts a launch where the generated code looks for it. */
  protected entering(heap: LaunchHeap): (launch: Parameters<LaunchHeap['enter']>[0]) => void {
    const { parameterBytes, symbols, symbolsAt } = this;
    return (launch) => {
      heap.enter(launch, parameterBytes, symbols, symbolsAt);
    };
  }

  protected declareNumbers(...names: readonly string[]): void {
    for (const name of names) this.numbers.add(name);
  }

  protected declareIntegers(...names: readonly string[]): void {
    for (const name of names) this.integers.add(name);
  }

  protected declareHelper(name: string): void {
    this.helpers.add(name);
  }

  protected lo(index: number): string {
    return this.end(index, 'l');
  }

  protected hi(index: number): string {
    return this.end(index, 'h');
  }

  /** First and last value of a variable. */
  protected variableEnds(variable: number): readonly [string, string] {
    if (this.isEnumerated(variable)) return [`k${variable}`, `k${variable}`];
    const found = this.summary.variables[variable];
    if (found?.kind === 'counter') return [ZERO, `${this.hi(found.count)} - 1.0`];
    return [ZERO, found === undefined ? 'inf' : `${dimension(`n${found.name}`)} - 1.0`];
  }

  protected isPoint(index: number): boolean {
    return this.points[index] === true;
  }

  private end(index: number, which: 'l' | 'h'): string {
    const node = this.summary.nodes[index];
    if (node?.op === 'constant') return number(node.value);
    return `${this.isPoint(index) ? 'p' : which}${index}`;
  }

  protected code(index: number, node: SummaryNode): string {
    if (node.op === 'constant') return '';
    if (this.isPoint(index)) {
      this.declareNumbers(`p${index}`);
      return this.pointCode(index, node);
    }
    this.declareNumbers(`l${index}`, `h${index}`);
    return this.intervalCode(index, node);
  }

  private pointCode(index: number, node: SummaryNode): string {
    const p = `p${index}`;
    const at = (operand: number): string => this.lo(operand);
    const safe = `if (!((${p} <= ${number(MOST)}) & (${p} >= ${number(-MOST)}))) return 2;`;
    const is = (value: string): string => `${p} = ${value};`;
    const two = 'a' in node && 'b' in node ? ([at(node.a), at(node.b)] as const) : ([ZERO, ZERO] as const);
    const [a, b] = two;
    switch (node.op) {
      case 'argument':
        return `${is(argument(node.offset, node.bytes, node.signed))}${node.bytes === 8 ? safe : ''}`;
      case 'dimension':
        return is(dimension(node.name));
      case 'symbol':
        return `${is(`+${this.symbol(node.name)}`)}if (${p} != ${p}) return 2;`;
      case 'sum':
        return `${is(number(node.constant))}${node.terms.map((term) => `${is(`${p} + ${at(term)}`)}${safe}`).join('')}`;
      case 'scale':
        return `${is(`${number(node.factor)} * ${at(node.of)}`)}${safe}`;
      case 'product':
        return `${is(`${a} * ${b}`)}${safe}`;
      case 'quotient':
        return is(divided(a, b, node.rounding));
      case 'remainder':
        return is(`${a} - ${b} * ${divided(a, b, node.rounding)}`);
      case 'minimum':
        return is(least(a, b));
      case 'maximum':
        return is(greatest(a, b));
      case 'bits': {
        if (node.bits === 64) return `${this.call(`${node.operation}64`, [a, a, b, b])}${is(FIRST)}${safe}`;
        const sign = { and: '&', or: '|', xor: '^' }[node.operation];
        return is(`+((~~${a} ${sign} ~~${b}) << ${32 - node.bits} >> ${32 - node.bits})`);
      }
      case 'wrap':
        return `${is(wrapped(at(node.of), node.bits, node.signed))}${safe}`;
      case 'select':
        return is(`${at(node.condition)} == 1.0 ? ${a} : ${b}`);
      case 'less':
        return is(truth(`${a} < ${b}`));
      case 'lessEqual':
        return is(truth(`${a} <= ${b}`));
      case 'equal':
        return is(truth(`${a} == ${b}`));
      case 'not':
        return is(`1.0 - ${at(node.of)}`);
      case 'and':
        return is(joined('&', node.terms.map(at)));
      case 'or':
        return is(joined('|', node.terms.map(at)));
      case 'constant':
      case 'variable':
      case 'unknown':
      case 'narrow':
      case 'meet':
      case 'hull':
      case 'power':
      case 'exactQuotient':
      case 'assume':
        throw new RangeError(`${node.op} is no number at launch`);
    }
  }

  private intervalCode(index: number, node: SummaryNode): string {
    const [l, h] = [`l${index}`, `h${index}`];
    const both = (lo: string, hi: string): string => `${l} = ${lo};${h} = ${hi};`;
    const lo = (operand: number): string => this.lo(operand);
    const hi = (operand: number): string => this.hi(operand);
    const tame = tamed(l, h);
    switch (node.op) {
      case 'constant':
        return '';
      case 'argument': {
        const isBeyond = `!((${l} <= ${number(MOST)}) & (${l} >= ${number(-MOST)}))`;
        return `${l} = ${argument(node.offset, node.bytes, node.signed)};${h} = ${l};if (${isBeyond}) { ${all(l, h)} }`;
      }
      case 'dimension':
        return both(dimension(node.name), dimension(node.name));
      case 'symbol':
        return `${l} = +${this.symbol(node.name)};${h} = ${l};if (${l} != ${l}) { ${all(l, h)} }`;
      case 'variable':
        return both(...this.variableEnds(node.variable));
      case 'unknown':
        return both(number(Math.floor(node.lo ?? -Infinity)), number(Math.ceil(node.hi ?? Infinity)));
      case 'sum':
        return this.sumCode(index, node.constant, node.terms);
      case 'scale': {
        const { factor, of } = node;
        const ends = [`${number(factor)} * ${lo(of)}`, `${number(factor)} * ${hi(of)}`] as const;
        if (factor === 0) return both(ZERO, ZERO);
        return `${factor > 0 ? both(...ends) : both(ends[1], ends[0])}${tame}`;
      }
      case 'product':
        return this.productCode(index, node.a, node.b);
      case 'power':
        return this.called(index, 'power', node.of, node.of);
      case 'quotient': {
        const helper = this.called(index, `${node.rounding}Quotient`, node.a, node.b);
        if (!this.isPoint(node.b) && this.summary.nodes[node.b]?.op !== 'constant') return helper;
        const isPlain = `(${lo(node.b)} > 0.0) & (${lo(node.a)} > -inf) & (${hi(node.a)} < inf)`;
        const by = lo(node.b);
        const [first, last] = [lo(node.a), hi(node.a)].map((end) => divided(end, by, node.rounding));
        return `if (${isPlain}) { ${both(first ?? '', last ?? '')} } else { ${helper} }`;
      }
      case 'exactQuotient': {
        const { a, b } = node;
        if (!this.isPoint(a) || !this.isPoint(b))
          return this.called(index, node.divides ? 'dividingQuotient' : 'exactQuotient', a, b);
        const w = `w${index}`;
        this.declareNumbers(w);
        const whole = `${w} = ${divided(lo(a), lo(b), 'floor')};`;
        const isExact = `(${w} >= 0.0) & (${w} * ${lo(b)} == ${lo(a)})`;
        return `${all(l, h)}if (${lo(b)} != 0.0) { ${whole}if (${isExact}) { ${both(w, w)} } }`;
      }
      case 'remainder':
        return this.called(index, `${node.rounding}Remainder`, node.a, node.b);
      case 'minimum':
        return both(least(lo(node.a), lo(node.b)), least(hi(node.a), hi(node.b)));
      case 'maximum':
        return both(greatest(lo(node.a), lo(node.b)), greatest(hi(node.a), hi(node.b)));
      case 'bits':
        return this.called(index, `${node.operation}${node.bits}`, node.a, node.b);
      case 'wrap':
        return this.wrapCode(index, node);
      case 'select': {
        const { condition, a, b } = node;
        const union = both(least(lo(a), lo(b)), greatest(hi(a), hi(b)));
        return (
          `if (${lo(condition)} == 1.0) { ${both(lo(a), hi(a))} } ` +
          `else if (${hi(condition)} == 0.0) { ${both(lo(b), hi(b))} } else { ${union} }`
        );
      }
      case 'less':
      case 'lessEqual': {
        const sign = node.op === 'less' ? '<' : '<=';
        const { a, b } = node;
        const always = `(${hi(a)} ${sign} ${lo(b)})`;
        return both(truth(always), truth(`${always} | (${lo(a)} ${sign} ${hi(b)})`));
      }
      case 'equal': {
        const { a, b } = node;
        const isSame = `(${lo(a)} == ${hi(a)}) & (${lo(b)} == ${hi(b)}) & (${lo(a)} == ${lo(b)})`;
        return both(truth(isSame), `(${hi(a)} < ${lo(b)}) | (${hi(b)} < ${lo(a)}) ? 0.0 : 1.0`);
      }
      case 'not':
        return both(`1.0 - ${hi(node.of)}`, `1.0 - ${lo(node.of)}`);
      case 'and':
        return both(joined('&', node.terms.map(lo)), joined('&', node.terms.map(hi)));
      case 'or':
        return both(joined('|', node.terms.map(lo)), joined('|', node.terms.map(hi)));
      case 'narrow':
        return both(
          node.lo === undefined ? lo(node.of) : greatest(lo(node.of), lo(node.lo)),
          node.hi === undefined ? hi(node.of) : least(hi(node.of), hi(node.hi)),
        );
      case 'assume':
        return `${all(l, h)}if (${this.fitting(node.fits)}) { ${both(lo(node.of), hi(node.of))} }`;
      case 'meet':
        return (
          all(l, h) +
          node.of
            .map((of) => `if (${lo(of)} > ${l}) ${l} = ${lo(of)};if (${hi(of)} < ${h}) ${h} = ${hi(of)};`)
            .join('')
        );
      case 'hull':
        return both(lo(node.from), hi(node.to));
    }
  }

  /** What is one number at launch is added first; each step is held to the safe integers. */
  private sumCode(index: number, constant: number, terms: readonly number[]): string {
    const [l, h] = [`l${index}`, `h${index}`];
    const points = terms.filter((term) => this.isPoint(term));
    const others = terms.filter((term) => !this.isPoint(term));
    const sum = points.map(
      (term) =>
        `${l} = ${l} + ${this.lo(term)};if (!((${l} <= ${number(MOST)}) & (${l} >= ${number(-MOST)}))) return 2;`,
    );
    const steps = others.map(
      (term) => `${l} = ${l} + ${this.lo(term)};${h} = ${h} + ${this.hi(term)};${tamed(l, h)}`,
    );
    return `${l} = ${number(constant)};${sum.join('')}${h} = ${l};${steps.join('')}`;
  }

  private productCode(index: number, a: number, b: number): string {
    const [point, other] = this.isPoint(a) ? [a, b] : [b, a];
    if (!this.isPoint(point)) return this.called(index, 'product', a, b);
    const [l, h, p] = [`l${index}`, `h${index}`, this.lo(point)];
    const [lo, hi] = [this.lo(other), this.hi(other)];
    return (
      `if (${p} > 0.0) { ${l} = ${p} * ${lo};${h} = ${p} * ${hi}; } ` +
      `else if (${p} < 0.0) { ${l} = ${p} * ${hi};${h} = ${p} * ${lo}; } else { ${l} = 0.0;${h} = 0.0; }${tamed(l, h)}`
    );
  }

  private wrapCode(index: number, node: Extract<SummaryNode, { op: 'wrap' }>): string {
    const [l, h] = [`l${index}`, `h${index}`];
    const { of, bits, signed } = node;
    const [first, last] = rangeOf(bits, signed);
    const isWithin = `(${l} >= ${number(first)}) & (${h} <= ${number(last)})`;
    const value = wrapped(this.lo(of), bits, signed);
    const whole = bits === 64 ? all(l, h) : `${l} = ${number(first)};${h} = ${number(last)};`;
    const otherwise =
      bits === 64
        ? whole
        : `if (${this.lo(of)} == ${this.hi(of)}) { ${l} = ${value};${h} = ${l}; } else { ${whole} }`;
    return `${l} = ${this.lo(of)};${h} = ${this.hi(of)};if (!(${isWithin})) { ${otherwise} }`;
  }

  private fitting(fits: readonly Fit[]): string {
    const texts = fits.map(({ of, bits, signed }) => {
      const [first, last] = rangeOf(bits, signed);
      return `(${this.lo(of)} >= ${number(first)}) & (${this.hi(of)} <= ${number(last)})`;
    });
    return texts.length === 0 ? '1' : texts.join(' & ');
  }

  /** Where a symbol's address lies on the heap. */
  private symbol(name: string): string {
    return stored(this.symbolsAt + 8 * this.symbols.indexOf(name));
  }

  private called(index: number, helper: string, a: number, b: number): string {
    const ends = [this.lo(a), this.hi(a), this.lo(b), this.hi(b)];
    return `${this.call(helper, ends)}l${index} = ${FIRST};h${index} = ${LAST};`;
  }

  private call(helper: string, ends: readonly string[]): string {
    this.declareHelper(helper);
    return `${given(...ends)}${helper}();`;
  }
}

/** What generated code calls. */
export function foreignOf({
  runtime,
  find,
  allocation,
}: LaunchHeap): Readonly<Record<string, () => number | void>> {
  return { ...runtime, find, allocation };
}

/** Where longer operators leave their result. */
export const FIRST = `+${stored(FOUND_AT)}`;
export const LAST = `+${stored(FOUND_AT + 8)}`;

/** Hands numbers to longer operators. */
export function given(...values: readonly string[]): string {
  return values.map((value, at) => `${stored(GIVEN_AT + 8 * at)} = ${value};`).join('');
}

function divided(a: string, b: string, rounding: 'floor' | 'zero'): string {
  return `+${rounding === 'floor' ? 'floored' : 'truncated'}(${a}, ${b})`;
}

function all(l: string, h: string): string {
  return `${l} = -inf;${h} = inf;`;
}

/** Beyond the safe integers, but not unbounded: then nothing is known. */
function tamed(l: string, h: string): string {
  return (
    `if (!((+abs(${l}) <= ${number(MOST)}) & (+abs(${h}) <= ${number(MOST)}))) ` +
    `if ((wild(${l}) | 0) | (wild(${h}) | 0)) { ${all(l, h)} }`
  );
}

function truth(condition: string): string {
  return `${condition} ? 1.0 : 0.0`;
}

function joined(sign: '&' | '|', terms: readonly string[]): string {
  if (terms.length === 0) return sign === '&' ? ONE : ZERO;
  return `+(${[sign === '&' ? '1' : '0', ...terms.map((term) => `~~${term}`)].join(` ${sign} `)})`;
}

function wrapped(value: string, bits: 8 | 16 | 32 | 64, signed: boolean): string {
  // Of 64 bits a safe integer stays what it is, or (negative, unsigned) is no safe integer any more.
  if (bits === 64) return signed ? value : `${value} < 0.0 ? nan : ${value}`;
  if (bits === 32) return signed ? `+(~~${value} | 0)` : `+(~~${value} >>> 0)`;
  return signed ? `+(~~${value} << ${32 - bits} >> ${32 - bits})` : `+(~~${value} & ${2 ** bits - 1} | 0)`;
}

function rangeOf(bits: 8 | 16 | 32 | 64, signed: boolean): readonly [number, number] {
  if (bits === 64) return [signed ? -(2 ** 53) : 0, 2 ** 53];
  return signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

function least(a: string, b: string): string {
  return `(${a} < ${b} ? ${a} : ${b})`;
}

function greatest(a: string, b: string): string {
  return `(${a} > ${b} ? ${a} : ${b})`;
}
