import type { Expression } from '../expressions/expression.js';
import { chosenValue } from '../expressions/selection.js';
import type { KernelContext } from '../transfer/operands.js';
import { integerBits } from '../transfer/operands.js';
import { LocalMemory } from './localMemory.js';
import { commonPath, Path } from './path.js';

/** Registers and local memory of a thread, symbolically. */
export class ThreadState {
  constructor(
    private readonly values: (Expression | undefined)[] = [],
    readonly local: LocalMemory = LocalMemory.empty(),
  ) {}

  get(register: number): Expression | undefined {
    return this.values[register];
  }

  set(register: number, value: Expression | undefined): void {
    this.values[register] = value;
  }

  copy(local: LocalMemory = this.local.copy()): ThreadState {
    return new ThreadState([...this.values], local);
  }
}

/** A way by which a block is reached. */
export interface Edge {
  readonly path: Path;
  readonly state: ThreadState;
}

/** What holds where several ways meet: values that differ between them become choices by the ways' conditions. */
export function mergeEdges(context: KernelContext, edges: readonly Edge[], live: readonly number[]): Edge {
  const [first] = edges;
  if (first === undefined) throw new RangeError('a block that no way leads to');
  if (edges.length === 1) return { path: first.path, state: first.state.copy() };
  const { conditions } = context;
  const above = commonPath(edges.map((edge) => edge.path));
  const ways = edges.map((edge) => conditions.and(edge.path.since(above)));
  const start = above ?? Path.start(conditions);
  const state = new ThreadState(
    [],
    LocalMemory.merge(
      context,
      ways,
      edges.map((edge) => edge.state.local),
    ),
  );
  for (const register of live) state.set(register, mergeRegister(context, register, ways, edges));
  return { path: start.with(conditions.or(ways)), state };
}

function mergeRegister(
  context: KernelContext,
  register: number,
  ways: readonly Expression[],
  edges: readonly Edge[],
): Expression | undefined {
  const type = context.kernel.registers[register]?.type ?? 'b64';
  let merged: Expression | undefined;
  for (let index = edges.length - 1; index >= 0; index--) {
    const value = edges[index]?.state.get(register);
    const way = ways[index];
    // Written on some ways only: whoever reads it gets what nobody knows.
    if (value === undefined || way === undefined) return undefined;
    if (merged === undefined || merged === value) merged = value;
    else if (type === 'pred') merged = context.conditions.choose(way, value, merged);
    else merged = chosenValue(context, way, value, merged, integerBits(type));
  }
  return merged;
}
