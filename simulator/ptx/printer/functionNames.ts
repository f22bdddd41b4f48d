import type { IrFunction } from '../ir.js';
import type { OperandNames } from './operandText.js';

/** The names of a function's registers, blocks and lists of targets, none of which is used twice. */
export class FunctionNames implements OperandNames {
  private readonly taken: Set<string>;
  private readonly labels = new Map<number, string>();

  constructor(private readonly fn: IrFunction) {
    const named = [...fn.registers, ...fn.variables, ...fn.callParameters, ...fn.parameters, ...fn.returns];
    this.taken = new Set(named.map(({ name }) => name));
    const targets = new Set(
      fn.instructions.flatMap(({ sources }) =>
        sources.flatMap((source) => (source.kind === 'label' ? [source.block] : [])),
      ),
    );
    for (const { index, label } of fn.blocks) {
      if (label !== undefined) this.labels.set(index, this.fresh(label));
    }
    for (const target of targets) {
      if (!this.labels.has(target)) this.labels.set(target, this.fresh(`$block${target}`));
    }
  }

  register(register: number): string {
    const found = this.fn.registers[register];
    if (found === undefined) throw new RangeError(`${this.fn.name} has no register ${register}`);
    return found.name;
  }

  label(block: number): string {
    const found = this.labels.get(block);
    if (found === undefined) throw new RangeError(`${this.fn.name} has no block ${block}`);
    return found;
  }

  /** Label of a block, when it has one. */
  labelOf(block: number): string | undefined {
    return this.labels.get(block);
  }

  /** A name like this one that nothing has yet. */
  fresh(name: string): string {
    let unique = name;
    for (let number = 2; this.taken.has(unique); number++) unique = `${name}$${number}`;
    this.taken.add(unique);
    return unique;
  }
}
