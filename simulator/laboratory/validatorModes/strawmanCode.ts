import type { KernelSummary, SummaryAccess, SummaryNode, ValidatedLaunch } from '../../idempotency/index.js';
import {
  accessSlots,
  bitsOf,
  floored,
  generatedFunction,
  type IntervalBuffer,
  NodeCode,
  truncated,
  variablesOfNodes,
} from '../../idempotency/testing/index.js';
import type { GrowingIntervals } from './growingIntervals.js';
import { argumentText, dimensionText, extentText, LAUNCH_TEXT, literal } from './launchText.js';

const MOST = Number.MAX_SAFE_INTEGER;

/** 0: a condition does not hold; 1: the accesses are in the buffer; 2: too many points to enumerate. */
type Enumerate = (launch: ValidatedLaunch, budget: number) => 0 | 1 | 2;

/**
 * Every thread and every iteration, one after another (section 2.5): far too slow for launches, but nothing is more precise
 * without running the kernel. An unknown value is NaN, and Infinity when it is unknown but known to be more than any exact
 * number. Takes intervals of whole accesses from `bounds`, by slot, for addresses that it cannot compute.
 */
export class StrawmanCode extends NodeCode {
  private readonly depends = variablesOfNodes(this.summary);

  static enumerate(summary: KernelSummary, bounds: IntervalBuffer, buffer: GrowingIntervals): Enumerate {
    return new StrawmanCode(summary).function(bounds, buffer);
  }

  private function(bounds: IntervalBuffer, buffer: GrowingIntervals): Enumerate {
    for (const { node } of this.summary.conditions) {
      // One that speaks of threads must hold of all of them.
      const head = (index: number): string => {
        const variable = this.summary.variables[index];
        const extent = variable?.kind === 'thread' ? extentText(variable.name) : '0';
        return `for (let k${index} = 0; k${index} < ${extent}; k${index}++)`;
      };
      this.nest([...(this.depends[node] ?? [])], head, () => {
        this.need(node);
        return ['if (--budget < 0) return 2;', `if (x${node} !== 1) return 0;`];
      });
    }
    const { slotOf } = accessSlots(this.summary);
    this.summary.accesses.forEach((access, index) => this.access(access, slotOf[index] ?? 0));
    this.push('return 1;');
    const make = generatedFunction<
      (
        B: GrowingIntervals,
        LO: Float64Array,
        HI: Float64Array,
        divide: typeof floored,
        truncate: typeof truncated,
        bits: typeof bitsOf,
      ) => Enumerate
    >(
      ['B', 'LO', 'HI', 'floored', 'truncated', 'bitsOf'],
      `const safe = (x) => x <= ${MOST} && x >= -${MOST} ? x : NaN;\nconst huge = (x) => x === Infinity ? x : safe(x);\nreturn function (L, budget) {\n${LAUNCH_TEXT}\nB.clear();\n${this.text}\n};`,
    );
    return make(buffer, bounds.lo, bounds.hi, floored, truncated, bitsOf);
  }

  private access(access: SummaryAccess, slot: number): void {
    const isWrite = access.kind === 'write';
    const depends = this.depends;
    const whole = `B.join(LO[${slot}], HI[${slot}], ${isWrite});`;
    const head = (index: number): string => {
      const variable = this.summary.variables[index];
      if (variable?.kind !== 'counter') {
        const extent = variable === undefined ? '0' : extentText(variable.name);
        return `for (let k${index} = 0; k${index} < ${extent}; k${index}++)`;
      }
      this.need(variable.count);
      const count = `x${variable.count}`;
      // Without knowing how often: of the threads that come there, as far as they are known already.
      const { variables } = access;
      const open = new Set(variables.slice(variables.indexOf(index)));
      const known = access.conditions.filter(
        (node) => ![...(depends[node] ?? [])].some((each) => open.has(each)),
      );
      for (const node of known) this.need(node);
      const comes = known.map((node) => `x${node} !== 0`).join(' && ');
      const all = `{ if (${comes === '' ? 'true' : comes}) ${whole} }`;
      return `if (!Number.isFinite(${count})) ${all} else for (let k${index} = 0; k${index} < ${count}; k${index}++)`;
    };
    // Where no byte is left of the interval the access does not happen.
    const guard = `LO[${slot}] <= HI[${slot}]`;
    const body = (): readonly string[] => {
      for (const node of [access.exact, ...access.conditions]) this.need(node);
      const happens = access.conditions.map((node) => `x${node} !== 0`);
      const at = `x${access.exact}`;
      const add = `if (Number.isFinite(${at})) B.join(${at}, ${at} + ${literal(access.bytes - 1)}, ${isWrite});else ${whole}`;
      return [
        'if (--budget < 0) return 2;',
        `if (${happens.length === 0 ? 'true' : happens.join(' && ')}) { ${add} }`,
      ];
    };
    this.nest(access.variables, head, body, guard);
  }

  protected code(index: number, node: SummaryNode): string {
    return `const x${index} = ${this.value(node)};`;
  }

  private value(node: SummaryNode): string {
    const at = (operand: number): string => `x${operand}`;
    const [a, b] =
      'a' in node && 'b' in node ? ([at(node.a), at(node.b)] as const) : (['NaN', 'NaN'] as const);
    const known = (value: string): string =>
      `(Number.isFinite(${a}) && Number.isFinite(${b}) ? ${value} : NaN)`;
    // One of them may be beyond all that is exact, but not both.
    const compared = (value: string): string =>
      `(${a} === ${a} && ${b} === ${b} && (${a} !== Infinity || ${b} !== Infinity) ? ${value} : NaN)`;
    const safe = (value: string): string => `safe(${value})`;
    switch (node.op) {
      case 'constant':
        return literal(node.value);
      case 'argument':
        return safe(argumentText(node.offset, node.bytes, node.signed));
      case 'dimension':
        return dimensionText(node.name);
      case 'symbol':
        return `Y === undefined ? NaN : Y.get(${JSON.stringify(node.name)}) ?? NaN`;
      case 'variable':
        return this.isEnumerated(node.variable) ? `k${node.variable}` : 'NaN';
      case 'unknown':
      case 'hull':
        return 'NaN';
      case 'sum':
        return node.terms.reduce((sum, term) => `huge(${sum} + ${at(term)})`, literal(node.constant));
      case 'scale':
        return safe(`${literal(node.factor)} * ${at(node.of)}`);
      case 'product':
        return `${a} === 0 || ${b} === 0 ? 0 : ${safe(`${a} * ${b}`)}`;
      case 'power':
        return `${at(node.of)} >= 0 && ${at(node.of)} <= 52 ? 2 ** ${at(node.of)} : NaN`;
      case 'quotient':
        return `${b} === 0 ? NaN : ${known(`${node.rounding === 'floor' ? 'floored' : 'truncated'}(${a}, ${b})`)}`;
      case 'exactQuotient':
        return `${b} !== 0 && ${a} % ${b} === 0 && ${a} / ${b} >= 0 ? ${a} / ${b} : NaN`;
      case 'remainder':
        return `${b} === 0 ? NaN : ${known(`${a} - ${b} * ${node.rounding === 'floor' ? 'floored' : 'truncated'}(${a}, ${b})`)}`;
      case 'minimum':
        return `Math.min(${a}, ${b})`;
      case 'maximum':
        return `Math.max(${a}, ${b})`;
      case 'bits':
        return known(safe(`bitsOf('${node.operation}', ${a}, ${b}, ${node.bits})`));
      case 'wrap':
        return wrapText(at(node.of), node.bits, node.signed);
      case 'select':
        return `${at(node.condition)} === 1 ? ${a} : ${at(node.condition)} === 0 ? ${b} : NaN`;
      case 'less':
        return compared(`(${a} < ${b} ? 1 : 0)`);
      case 'lessEqual':
        return compared(`(${a} <= ${b} ? 1 : 0)`);
      case 'equal':
        return compared(`(${a} === ${b} ? 1 : 0)`);
      case 'not':
        return `1 - ${at(node.of)}`;
      case 'and':
        return logic(node.terms.map(at), 0);
      case 'or':
        return logic(node.terms.map(at), 1);
      case 'narrow':
        return at(node.of);
      case 'meet':
        return at(node.of[0] ?? 0);
      case 'assume': {
        const fits = node.fits.map(({ of, bits, signed }) => {
          const [lo, hi] = bits === 64 ? [signed ? -MOST : 0, MOST] : rangeOf(bits, signed);
          return `${at(of)} >= ${literal(lo)} && ${at(of)} <= ${literal(hi)}`;
        });
        return fits.length === 0 ? at(node.of) : `${fits.join(' && ')} ? ${at(node.of)} : NaN`;
      }
    }
  }
}

/** One term of this value decides; else all must be known. */
function logic(terms: readonly string[], deciding: 0 | 1): string {
  if (terms.length === 0) return `${1 - deciding}`;
  const isDecided = terms.map((term) => `${term} === ${deciding}`).join(' || ');
  const isOther = terms.map((term) => `${term} === ${1 - deciding}`).join(' && ');
  return `${isDecided} ? ${deciding} : ${isOther} ? ${1 - deciding} : NaN`;
}

function wrapText(value: string, bits: 8 | 16 | 32 | 64, signed: boolean): string {
  // Below zero it is beyond 2^63, more than anything exact: of use in comparisons.
  if (bits === 64) return signed ? `safe(${value})` : `${value} < 0 ? Infinity : ${value}`;
  const shift = 32 - bits;
  const low =
    bits === 32
      ? `${value} ${signed ? '|' : '>>>'} 0`
      : `${value} << ${shift} ${signed ? '>>' : '>>>'} ${shift}`;
  return `Number.isFinite(${value}) ? ${low} : NaN`;
}

function rangeOf(bits: 8 | 16 | 32, signed: boolean): readonly [number, number] {
  return signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}
