import type { KernelSummary, SummaryNode } from '../summary.js';
import { operandsOf, variablesOfNodes } from './nodeGraph.js';

interface Scope {
  readonly emitted: Set<number>;
  readonly lines: string[];
}

/**
 * Statements that compute nodes, each once and before it is used. Variables may be enumerated by nested loops: what depends
 * on none of them stands before the loops, the rest as far outside as it can.
 */
export abstract class NodeCode {
  private readonly root: Scope = { emitted: new Set(), lines: [] };
  private readonly dependencies: readonly ReadonlySet<number>[];
  private loops: { readonly variable: number; readonly scope: Scope }[] = [];

  constructor(protected readonly summary: KernelSummary) {
    this.dependencies = variablesOfNodes(summary);
  }

  /** Makes the value of a node available. */
  need(index: number): void {
    const wanted = new Set<number>();
    const work = [index];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const node = this.summary.nodes[next];
      if (node === undefined || wanted.has(next) || this.scopeOf(next).emitted.has(next)) continue;
      wanted.add(next);
      work.push(...operandsOf(node));
      if (node.op !== 'variable') continue;
      const variable = this.summary.variables[node.variable];
      if (variable?.kind === 'counter' && !this.isEnumerated(node.variable)) work.push(variable.count);
    }
    // Operands stand before what is made of them.
    for (const each of [...wanted].sort((a, b) => a - b)) {
      const node = this.summary.nodes[each];
      const scope = this.scopeOf(each);
      scope.emitted.add(each);
      const line = node === undefined ? '' : this.code(each, node);
      if (line !== '') scope.lines.push(line);
    }
  }

  /** A statement outside all loops. */
  protected push(line: string): void {
    this.root.lines.push(line);
  }

  /** Everything that stands outside loops so far. */
  protected get text(): string {
    return this.root.lines.join('\n');
  }

  protected isEnumerated(variable: number): boolean {
    return this.loops.some((loop) => loop.variable === variable);
  }

  /** Loops over variables in their order, with what `body` returns innermost, if `guard` holds. */
  protected nest(
    variables: readonly number[],
    head: (variable: number) => string,
    body: () => readonly string[],
    guard = 'true',
  ): void {
    this.loops = variables.map((variable) => ({ variable, scope: { emitted: new Set(), lines: [] } }));
    const heads = variables.map(head);
    const inner = body();
    const text = this.loops.reduceRight(
      (nested, { scope }, depth) => [`${heads[depth] ?? ''} {`, ...scope.lines, ...nested, '}'],
      [...inner],
    );
    this.loops = [];
    this.root.lines.push(`if (${guard}) {`, ...text, '}');
  }

  /** The statement that computes a node from its operands; empty when there is nothing to compute. */
  protected abstract code(index: number, node: SummaryNode): string;

  private scopeOf(index: number): Scope {
    const depends = this.dependencies[index];
    const loop = this.loops.findLast(({ variable }) => depends?.has(variable) === true);
    return loop?.scope ?? this.root;
  }
}
