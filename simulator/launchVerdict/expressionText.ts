import type { KernelSummary, SummaryNode } from '../idempotency/index.js';
import type { IrFunction } from '../ptx/index.js';

/** Characters of an expression; what is longer is cut inside. */
const MOST_CHARACTERS = 240;

/** Addresses and values of a summary as people write them: `args[0] + 4·(ctaid.x·ntid.x + tid.x)`. */
export class ExpressionText {
  private readonly texts: string[] = [];

  constructor(
    private readonly summary: KernelSummary,
    private readonly kernel: IrFunction,
  ) {}

  of(index: number): string {
    // In order: nodes are made of those before them.
    for (let next = this.texts.length; next <= index; next++) {
      const node = this.summary.nodes[next];
      const text = node === undefined ? '?' : this.text(node);
      this.texts.push(text.length <= MOST_CHARACTERS ? text : '…');
    }
    return this.texts[index] ?? '?';
  }

  private text(node: SummaryNode): string {
    const of = (index: number): string => this.of(index);
    const inner = (index: number): string => this.wrapped(index);
    switch (node.op) {
      case 'constant':
        return `${node.value}`;
      case 'argument':
        return this.argument(node.offset);
      case 'dimension':
        return node.name;
      case 'symbol':
        return node.name;
      case 'variable':
        return this.variable(node.variable);
      case 'unknown':
        return node.lo === undefined || node.hi === undefined
          ? 'a value that no argument gives'
          : `a value from ${node.lo} to ${node.hi}`;
      case 'sum': {
        const terms = node.terms.map(of);
        return (node.constant === 0 ? terms : [...terms, `${node.constant}`])
          .join(' + ')
          .replaceAll('+ -', '− ');
      }
      case 'scale':
        return `${node.factor}·${inner(node.of)}`;
      case 'product':
        return `${inner(node.a)}·${inner(node.b)}`;
      case 'power':
        return `2^${inner(node.of)}`;
      case 'quotient':
      case 'exactQuotient':
        return `${inner(node.a)} / ${inner(node.b)}`;
      case 'remainder':
        return `${inner(node.a)} mod ${inner(node.b)}`;
      case 'minimum':
        return `min(${of(node.a)}, ${of(node.b)})`;
      case 'maximum':
        return `max(${of(node.a)}, ${of(node.b)})`;
      case 'bits':
        return `${inner(node.a)} ${node.operation} ${inner(node.b)}`;
      case 'wrap':
        return of(node.of);
      case 'select':
        return `(${of(node.condition)} ? ${of(node.a)} : ${of(node.b)})`;
      case 'less':
        return `${inner(node.a)} < ${inner(node.b)}`;
      case 'lessEqual':
        return `${inner(node.a)} ≤ ${inner(node.b)}`;
      case 'equal':
        return `${inner(node.a)} = ${inner(node.b)}`;
      case 'not':
        return `not ${inner(node.of)}`;
      case 'and':
      case 'or':
        return node.terms.map(inner).join(` ${node.op} `);
      case 'narrow':
      case 'assume':
        return of(node.of);
      case 'meet':
        return of(node.of[0] ?? 0);
      case 'hull':
        return `a value from ${of(node.from)} to ${of(node.to)}`;
    }
  }

  private wrapped(index: number): string {
    const node = this.summary.nodes[index];
    const text = this.of(index);
    const isPlain =
      node === undefined ||
      ['constant', 'argument', 'dimension', 'symbol', 'variable', 'minimum', 'maximum', 'select'].includes(
        node.op,
      );
    return isPlain || !text.includes(' ') ? text : `(${text})`;
  }

  private argument(offset: number): string {
    const index = this.kernel.parameters.findIndex(
      (each) => each.offset <= offset && offset < each.offset + each.bytes,
    );
    const parameter = this.kernel.parameters[index];
    if (parameter === undefined) return `the parameter byte ${offset}`;
    return offset === parameter.offset ? `args[${index}]` : `args[${index}].byte${offset - parameter.offset}`;
  }

  private variable(index: number): string {
    const variable = this.summary.variables[index];
    if (variable === undefined) return '?';
    return variable.kind === 'thread' ? variable.name : `k${variable.line}`;
  }
}
