import type { Expression } from '../expressions/expression.js';
import { constantOf } from '../expressions/expression.js';
import { selectValue } from '../expressions/selection.js';
import type { KernelContext } from '../transfer/operands.js';

interface Cell {
  readonly variable: string;
  readonly offset: number;
  readonly bytes: number;
  readonly value: Expression;
}

/** What a thread's local memory holds at places with constant offsets; elsewhere nothing is known. */
export class LocalMemory {
  private constructor(private readonly cells: Map<string, Cell>) {}

  static empty(): LocalMemory {
    return new LocalMemory(new Map());
  }

  copy(): LocalMemory {
    return new LocalMemory(new Map(this.cells));
  }

  load(address: Expression, bytes: number): Expression | undefined {
    const place = constantPlace(address);
    if (place === undefined) return undefined;
    const cell = this.cells.get(`${place.variable}:${place.offset}`);
    return cell?.bytes === bytes ? cell.value : undefined;
  }

  store(address: Expression, bytes: number, value: Expression | undefined): void {
    const place = constantPlace(address);
    if (place === undefined) {
      this.cells.clear();
      return;
    }
    const { variable, offset } = place;
    for (const [key, cell] of this.cells) {
      if (cell.variable !== variable) continue;
      if (cell.offset < offset + bytes && offset < cell.offset + cell.bytes) this.cells.delete(key);
    }
    if (value !== undefined) this.cells.set(`${variable}:${offset}`, { variable, offset, bytes, value });
  }

  /** The values, each replaced. */
  mapped(replace: (value: Expression) => Expression): LocalMemory {
    const cells = [...this.cells].map(
      ([key, cell]) => [key, { ...cell, value: replace(cell.value) }] as const,
    );
    return new LocalMemory(new Map(cells));
  }

  /** What all of them hold, chosen by the ways. */
  static merge(
    context: KernelContext,
    ways: readonly Expression[],
    memories: readonly LocalMemory[],
  ): LocalMemory {
    const [first, ...others] = memories;
    const merged = LocalMemory.empty();
    for (const [key, cell] of first?.cells ?? []) {
      const cells = [cell, ...others.flatMap((other) => other.cells.get(key) ?? [])];
      if (cells.length !== memories.length || cells.some((each) => each.bytes !== cell.bytes)) continue;
      let value: Expression | undefined;
      for (let index = cells.length - 1; index >= 0; index--) {
        const [each, way] = [cells[index], ways[index]];
        if (each === undefined || way === undefined) continue;
        value = value === undefined ? each.value : selectValue(context, way, each.value, value);
      }
      if (value !== undefined) merged.cells.set(key, { ...cell, value });
    }
    return merged;
  }
}

/** The local variable and offset that an address names, when both are constant. */
function constantPlace(address: Expression): { variable: string; offset: number } | undefined {
  const terms = address.op === 'sum' ? address.terms : [{ coefficient: 1, factors: [address] }];
  const places = terms.flatMap((term) =>
    term.coefficient === 1 && term.factors.length === 1 ? term.factors : [],
  );
  if (places.length !== terms.length) return undefined;
  const names = places.filter((place) => place.op === 'place' && place.name !== 'window');
  const [place] = names;
  if (place?.op !== 'place' || place.space !== 'local' || names.length !== 1) return undefined;
  if (places.some((each) => each.op !== 'place')) return undefined;
  return { variable: place.name, offset: constantOf(address) };
}
