import { writtenRegisters, readRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction, IrOperand } from '../ir.js';
import type { NeededInstructions } from './neededInstructions.js';
import { roundsFreely, typeClass } from './roundsFreely.js';

/** A multiplication whose sum an `fma` may take over. */
export interface Product {
  /** Index of the `mul`. */
  readonly mul: number;
  /** Sums that read it, as it is or negated. */
  readonly uses: ProductUse[];
  /** `mov` and `neg` that pass it on. */
  readonly copies: number[];
  /** False once something needs the rounded product itself. */
  isFree: boolean;
  /** What it multiplies, the same for products that are equal. */
  readonly factors: string;
}

export interface ProductUse {
  readonly product: Product;
  /** Index of the `add` or `sub`. */
  readonly sum: number;
  readonly source: 0 | 1;
  /** The sum reads the product with its sign changed (by `neg` in between). */
  readonly isNegated: boolean;
}

interface Held {
  readonly product: Product;
  readonly isNegated: boolean;
}

/** Follows products through a straight line of instructions. */
export class ProductFinder {
  readonly products: Product[] = [];
  /** By sum: the products that it reads, by source. */
  readonly sums = new Map<number, [ProductUse?, ProductUse?]>();
  private readonly held = new Map<number, Held>();
  /** Values by register: equal numbers are equal values. */
  private readonly values = new Map<number, string>();
  private valueCount = 0;

  constructor(
    private readonly fn: IrFunction,
    private readonly needed: NeededInstructions,
  ) {}

  /** Takes the instructions of one straight line, given by its blocks. */
  scan(line: readonly number[]): void {
    this.held.clear();
    this.values.clear();
    for (const index of line) {
      const block = this.fn.blocks[index];
      if (block === undefined) continue;
      for (let at = block.first; at <= block.last; at++) {
        const instruction = this.fn.instructions[at];
        if (instruction !== undefined) this.step(instruction);
      }
    }
    const liveOut = this.needed.liveOut[line.at(-1) ?? 0];
    for (const [register, { product }] of this.held)
      if (liveOut?.has(register) === true) product.isFree = false;
  }

  private step(instruction: IrInstruction): void {
    const isNeeded = this.needed.isNeeded(instruction.index);
    const passed = isNeeded ? this.passedOn(instruction) : undefined;
    const copied = this.copiedValue(instruction);
    if (isNeeded && passed === undefined) this.use(instruction);
    const product = isNeeded ? this.productOf(instruction) : undefined;
    for (const register of writtenRegisters(instruction)) {
      const before = this.held.get(register);
      // A guarded write may leave the product in its register: what reads it later reads either.
      if (before !== undefined && isNeeded && instruction.guard !== undefined) before.product.isFree = false;
      this.held.delete(register);
      this.values.set(register, copied ?? `value ${this.valueCount++}`);
      if (passed !== undefined) this.held.set(register, passed);
      else if (product !== undefined) this.held.set(register, { product, isNegated: false });
    }
  }

  /** The product that a `mov` or `neg` hands to its destination. */
  private passedOn(instruction: IrInstruction): Held | undefined {
    const [source] = instruction.sources;
    if (source?.kind !== 'register' || instruction.guard !== undefined) return undefined;
    const held = this.held.get(source.register);
    if (held === undefined || instruction.destinations[0]?.kind !== 'register') return undefined;
    const isNeg = instruction.opcode === 'neg';
    if (isNeg ? !this.negates(instruction, held.product) : instruction.opcode !== 'mov') return undefined;
    held.product.copies.push(instruction.index);
    return { product: held.product, isNegated: held.isNegated !== isNeg };
  }

  private negates(instruction: IrInstruction, product: Product): boolean {
    const mul = this.fn.instructions[product.mul];
    return mul !== undefined && typeClass(mul) === typeClass(instruction);
  }

  private use(instruction: IrInstruction): void {
    const key =
      instruction.opcode === 'add' || instruction.opcode === 'sub' ? roundsFreely(instruction) : undefined;
    const found: [ProductUse?, ProductUse?] = [];
    if (key !== undefined) {
      for (const source of [0, 1] as const) {
        const operand = instruction.sources[source];
        const held = operand?.kind === 'register' ? this.held.get(operand.register) : undefined;
        if (held === undefined) continue;
        const mul = this.fn.instructions[held.product.mul];
        if (mul === undefined || roundsFreely(mul) !== key) held.product.isFree = false;
        else
          found[source] = {
            product: held.product,
            sum: instruction.index,
            source,
            isNegated: held.isNegated,
          };
      }
      const [first, second] = found;
      if (first !== undefined && second !== undefined && first.product.factors === second.product.factors) {
        first.product.isFree = false;
        second.product.isFree = false;
        return;
      }
      for (const use of found) use?.product.uses.push(use);
      if (first !== undefined || second !== undefined) this.sums.set(instruction.index, found);
      return;
    }
    for (const register of readRegisters(instruction)) {
      const held = this.held.get(register);
      if (held !== undefined) held.product.isFree = false;
    }
  }

  private productOf(instruction: IrInstruction): Product | undefined {
    const { opcode, guard, modifiers, sources } = instruction;
    if (opcode !== 'mul' || guard !== undefined || modifiers.includes('sat')) return undefined;
    if (roundsFreely(instruction) === undefined || instruction.destinations[0]?.kind !== 'register')
      return undefined;
    const factors = sources.map((source) => this.valueOf(source));
    // Two constants are multiplied, and rounded, before anything else is done.
    if (factors.every((factor) => factor.startsWith('constant'))) return undefined;
    const product: Product = {
      mul: instruction.index,
      uses: [],
      copies: [],
      isFree: true,
      factors: factors.sort().join(),
    };
    this.products.push(product);
    return product;
  }

  private copiedValue(instruction: IrInstruction): string | undefined {
    const [source] = instruction.sources;
    if (instruction.opcode !== 'mov' || instruction.guard !== undefined || source === undefined)
      return undefined;
    return source.kind === 'register' || source.kind === 'float' ? this.valueOf(source) : undefined;
  }

  private valueOf(operand: IrOperand): string {
    if (operand.kind === 'float') return `constant ${operand.high} ${operand.low}`;
    if (operand.kind !== 'register') return `value ${this.valueCount++}`;
    let value = this.values.get(operand.register);
    if (value === undefined) this.values.set(operand.register, (value = `value ${this.valueCount++}`));
    return value;
  }
}
