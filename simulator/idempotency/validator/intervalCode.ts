import type { Fit, KernelSummary, SummaryNode } from '../summary.js';
import { argumentText, dimensionText, extentText, literal, NodeCode } from './nodeCode.js';
import { pointNodes } from './nodeGraph.js';

const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Code of the interval reading of nodes: ends in `l<i>` and `h<i>`. With `usesPoints` what is one number at launch is one number
 * in the code too, `p<i>`, and whatever leaves the safe integers there ends the function with 2: then the same code without
 * points has to judge. All arithmetic is that of whole numbers in floating point, exact because every result beyond ±2^53 is
 * noticed before it is used.
 */
export abstract class IntervalCode extends NodeCode {
  private readonly points: readonly boolean[];

  constructor(summary: KernelSummary, usesPoints: boolean) {
    super(summary);
    this.points = usesPoints ? pointNodes(summary) : [];
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
    if (found?.kind === 'counter') return ['0', `${this.hi(found.count)} - 1`];
    return ['0', found === undefined ? 'Infinity' : `${extentText(found.name)} - 1`];
  }

  protected isPoint(index: number): boolean {
    return this.points[index] === true;
  }

  private end(index: number, which: 'l' | 'h'): string {
    const node = this.summary.nodes[index];
    if (node?.op === 'constant') return literal(node.value);
    return `${this.isPoint(index) ? 'p' : which}${index}`;
  }

  protected code(index: number, node: SummaryNode): string {
    if (node.op === 'constant') return '';
    return this.isPoint(index) ? this.pointCode(`p${index}`, node) : this.intervalCode(index, node);
  }

  private pointCode(p: string, node: SummaryNode): string {
    const at = (operand: number): string => this.lo(operand);
    const safe = `if (!(${p} <= ${MOST} && ${p} >= -${MOST})) return 2;`;
    const two = 'a' in node && 'b' in node ? ([at(node.a), at(node.b)] as const) : (['0', '0'] as const);
    const [a, b] = two;
    switch (node.op) {
      case 'argument':
        return `const ${p} = ${argumentText(node.offset, node.bytes, node.signed)};${node.bytes === 8 ? safe : ''}`;
      case 'dimension':
        return `const ${p} = ${dimensionText(node.name)};`;
      case 'symbol':
        return `const ${p} = Y === undefined ? undefined : Y.get(${JSON.stringify(node.name)});if (${p} === undefined) return 2;`;
      case 'sum':
        return `let ${p} = ${literal(node.constant)};${node.terms.map((term) => `${p} += ${at(term)};${safe}`).join('')}`;
      case 'scale':
        return `const ${p} = ${literal(node.factor)} * ${at(node.of)};${safe}`;
      case 'product':
        return `const ${p} = ${a} * ${b};${safe}`;
      case 'quotient':
        return `const ${p} = ${this.divided(a, b, node.rounding)};`;
      case 'remainder':
        return `const ${p} = ${a} - ${b} * ${this.divided(a, b, node.rounding)};`;
      case 'minimum':
        return `const ${p} = ${a} < ${b} ? ${a} : ${b};`;
      case 'maximum':
        return `const ${p} = ${a} > ${b} ? ${a} : ${b};`;
      case 'bits': {
        const sign = { and: '&', or: '|', xor: '^' }[node.operation];
        if (node.bits === 64) return `const ${p} = bitsOf('${node.operation}', ${a}, ${b}, 64);${safe}`;
        return `const ${p} = (${a} ${sign} ${b}) << ${32 - node.bits} >> ${32 - node.bits};`;
      }
      case 'wrap':
        return `const ${p} = ${wrapped(at(node.of), node.bits, node.signed)};${safe}`;
      case 'select':
        return `const ${p} = ${at(node.condition)} === 1 ? ${a} : ${b};`;
      case 'less':
        return `const ${p} = ${a} < ${b} ? 1 : 0;`;
      case 'lessEqual':
        return `const ${p} = ${a} <= ${b} ? 1 : 0;`;
      case 'equal':
        return `const ${p} = ${a} === ${b} ? 1 : 0;`;
      case 'not':
        return `const ${p} = 1 - ${at(node.of)};`;
      case 'and':
        return `const ${p} = ${['1', ...node.terms.map(at)].join(' & ')};`;
      case 'or':
        return `const ${p} = ${['0', ...node.terms.map(at)].join(' | ')};`;
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
    const both = (lo: string, hi: string): string => `let ${l} = ${lo}, ${h} = ${hi};`;
    const lo = (operand: number): string => this.lo(operand);
    const hi = (operand: number): string => this.hi(operand);
    const tame = tamed(l, h);
    switch (node.op) {
      case 'constant':
        return '';
      case 'argument': {
        const value = `const v${index} = ${argumentText(node.offset, node.bytes, node.signed)};`;
        const isSafe = `v${index} <= ${MOST} && v${index} >= -${MOST}`;
        return `${value}${both(`${isSafe} ? v${index} : -Infinity`, `${isSafe} ? v${index} : Infinity`)}`;
      }
      case 'dimension':
        return both(dimensionText(node.name), dimensionText(node.name));
      case 'symbol':
        return (
          `const v${index} = Y === undefined ? undefined : Y.get(${JSON.stringify(node.name)});` +
          both(`v${index} ?? -Infinity`, `v${index} ?? Infinity`)
        );
      case 'variable':
        return both(...this.variableEnds(node.variable));
      case 'unknown':
        return both(literal(Math.floor(node.lo ?? -Infinity)), literal(Math.ceil(node.hi ?? Infinity)));
      case 'sum':
        return this.sumCode(index, node.constant, node.terms);
      case 'scale': {
        const { factor, of } = node;
        const ends = [`${literal(factor)} * ${lo(of)}`, `${literal(factor)} * ${hi(of)}`] as const;
        if (factor === 0) return both('0', '0');
        return `${factor > 0 ? both(...ends) : both(ends[1], ends[0])}${tame}`;
      }
      case 'product':
        return this.productCode(index, node.a, node.b);
      case 'power':
        return this.called(index, 'power', node.of, node.of);
      case 'quotient': {
        const helper = this.called(index, `${node.rounding}Quotient`, node.a, node.b);
        if (!this.isPoint(node.b) && this.summary.nodes[node.b]?.op !== 'constant') return helper;
        const isPlain = `${lo(node.b)} > 0 && ${lo(node.a)} > -Infinity && ${hi(node.a)} < Infinity`;
        const by = lo(node.b);
        const [first, last] = [lo(node.a), hi(node.a)].map((end) => this.divided(end, by, node.rounding));
        return `let ${l}, ${h};if (${isPlain}) { ${l} = ${first ?? ''}; ${h} = ${last ?? ''}; } else { ${helper.replace(`let ${l}, ${h};`, '')} }`;
      }
      case 'exactQuotient': {
        const { a, b } = node;
        if (!this.isPoint(a) || !this.isPoint(b))
          return this.called(index, node.divides ? 'dividingQuotient' : 'exactQuotient', a, b);
        const whole = `const w${index} = floored(${lo(a)}, ${lo(b)});`;
        const isExact = `w${index} >= 0 && w${index} * ${lo(b)} === ${lo(a)}`;
        return `${both('-Infinity', 'Infinity')}if (${lo(b)} !== 0) { ${whole}if (${isExact}) { ${l} = w${index}; ${h} = w${index}; } }`;
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
        const one = `{ ${l} = ${lo(a)}; ${h} = ${hi(a)}; }`;
        const other = `{ ${l} = ${lo(b)}; ${h} = ${hi(b)}; }`;
        const union = `{ ${l} = ${least(lo(a), lo(b))}; ${h} = ${greatest(hi(a), hi(b))}; }`;
        return `let ${l}, ${h};if (${lo(condition)} === 1) ${one} else if (${hi(condition)} === 0) ${other} else ${union}`;
      }
      case 'less':
      case 'lessEqual': {
        const sign = node.op === 'less' ? '<' : '<=';
        const { a, b } = node;
        return both(
          `${hi(a)} ${sign} ${lo(b)} ? 1 : 0`,
          `${hi(a)} ${sign} ${lo(b)} || ${lo(a)} ${sign} ${hi(b)} ? 1 : 0`,
        );
      }
      case 'equal': {
        const { a, b } = node;
        const isSame = `${lo(a)} === ${hi(a)} && ${lo(b)} === ${hi(b)} && ${lo(a)} === ${lo(b)}`;
        return both(`${isSame} ? 1 : 0`, `${hi(a)} < ${lo(b)} || ${hi(b)} < ${lo(a)} ? 0 : 1`);
      }
      case 'not':
        return both(`1 - ${hi(node.of)}`, `1 - ${lo(node.of)}`);
      case 'and':
        return both(['1', ...node.terms.map(lo)].join(' & '), ['1', ...node.terms.map(hi)].join(' & '));
      case 'or':
        return both(['0', ...node.terms.map(lo)].join(' | '), ['0', ...node.terms.map(hi)].join(' | '));
      case 'narrow':
        return both(
          node.lo === undefined ? lo(node.of) : greatest(lo(node.of), lo(node.lo)),
          node.hi === undefined ? hi(node.of) : least(hi(node.of), hi(node.hi)),
        );
      case 'assume': {
        const fits = this.fitting(node.fits);
        return `let ${l} = -Infinity, ${h} = Infinity;if (${fits}) { ${l} = ${lo(node.of)}; ${h} = ${hi(node.of)}; }`;
      }
      case 'meet':
        return both(`Math.max(${node.of.map(lo).join(', ')})`, `Math.min(${node.of.map(hi).join(', ')})`);
      case 'hull':
        return both(lo(node.from), hi(node.to));
    }
  }

  /** What is one number at launch is added first; each step is held to the safe integers. */
  private sumCode(index: number, constant: number, terms: readonly number[]): string {
    const [l, h] = [`l${index}`, `h${index}`];
    const points = terms.filter((term) => this.isPoint(term));
    const others = terms.filter((term) => !this.isPoint(term));
    const q = `q${index}`;
    const sum = points.map(
      (term) => `${q} += ${this.lo(term)};if (!(${q} <= ${MOST} && ${q} >= -${MOST})) return 2;`,
    );
    const start = points.length === 0 ? literal(constant) : q;
    const head = points.length === 0 ? '' : `let ${q} = ${literal(constant)};${sum.join('')}`;
    const steps = others.map((term) => `${l} += ${this.lo(term)};${h} += ${this.hi(term)};${tamed(l, h)}`);
    return `${head}let ${l} = ${start}, ${h} = ${start};${steps.join('')}`;
  }

  private productCode(index: number, a: number, b: number): string {
    const [point, other] = this.isPoint(a) ? [a, b] : [b, a];
    if (!this.isPoint(point)) return this.called(index, 'product', a, b);
    const [l, h, p] = [`l${index}`, `h${index}`, this.lo(point)];
    const [lo, hi] = [this.lo(other), this.hi(other)];
    return (
      `let ${l} = 0, ${h} = 0;if (${p} > 0) { ${l} = ${p} * ${lo}; ${h} = ${p} * ${hi}; } ` +
      `else if (${p} < 0) { ${l} = ${p} * ${hi}; ${h} = ${p} * ${lo}; }${tamed(l, h)}`
    );
  }

  private wrapCode(index: number, node: Extract<SummaryNode, { op: 'wrap' }>): string {
    const [l, h] = [`l${index}`, `h${index}`];
    const { of, bits, signed } = node;
    const [least64, most64] = rangeOf(bits, signed);
    const [first, last] = bits === 64 ? ['-Infinity', 'Infinity'] : [literal(least64), literal(most64)];
    const value = wrapped(this.lo(of), bits, signed);
    const isOne = bits === 64 ? 'false' : `${this.lo(of)} === ${this.hi(of)}`;
    return (
      `let ${l} = ${this.lo(of)}, ${h} = ${this.hi(of)};` +
      `if (!(${l} >= ${literal(least64)} && ${h} <= ${literal(most64)})) { ` +
      `if (${isOne}) { ${l} = ${value}; ${h} = ${l}; } else { ${l} = ${first}; ${h} = ${last}; } }`
    );
  }

  private fitting(fits: readonly Fit[]): string {
    const texts = fits.map(({ of, bits, signed }) => {
      const [least64, most64] = rangeOf(bits, signed);
      return `${this.lo(of)} >= ${literal(least64)} && ${this.hi(of)} <= ${literal(most64)}`;
    });
    return texts.length === 0 ? 'true' : texts.join(' && ');
  }

  private called(index: number, helper: string, a: number, b: number): string {
    const given = [this.lo(a), this.hi(a), this.lo(b), this.hi(b)].map((end, at) => `I[${at}] = ${end};`);
    return `let l${index}, h${index};${given.join('')}R.${helper}();l${index} = F[0];h${index} = F[1];`;
  }

  private divided(a: string, b: string, rounding: 'floor' | 'zero'): string {
    return rounding === 'floor' ? `floored(${a}, ${b})` : `truncated(${a}, ${b})`;
  }
}

/** Beyond the safe integers, but not unbounded: then nothing is known. */
function tamed(l: string, h: string): string {
  return (
    `if (!(Math.abs(${l}) <= ${MOST} && Math.abs(${h}) <= ${MOST})) ` +
    `{ I[0] = ${l};I[1] = ${h};R.tame();${l} = F[0];${h} = F[1]; }`
  );
}

function wrapped(value: string, bits: 8 | 16 | 32 | 64, signed: boolean): string {
  // Of 64 bits a safe integer stays what it is, or (negative, unsigned) is no safe integer any more.
  if (bits === 64) return signed ? value : `(${value} < 0 ? NaN : ${value})`;
  if (bits === 32) return signed ? `(${value} | 0)` : `(${value} >>> 0)`;
  return signed ? `(${value} << ${32 - bits} >> ${32 - bits})` : `(${value} & ${2 ** bits - 1})`;
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
