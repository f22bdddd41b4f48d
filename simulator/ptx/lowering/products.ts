import { writtenRegisters, readRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from '../ir.js';
import type { NeededInstructions } from './neededInstructions.js';
import { isProductOfReciprocal } from './quotient.js';
import { roundsFreely } from './roundsFreely.js';

/** A multiplication, or a division that ends in one, whose sum an `fma` may take over. */
export interface Product {
  /** Index of the `mul` or `div`. */
  readonly mul: number;
  readonly type: ScalarType;
  /** Sums that read it, as it is or negated. */
  readonly uses: ProductUse[];
  /** `mov`, `neg` and plain `cvt` that pass it on. */
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
  private readonly constants: ReadonlyMap<number, string>;

  constructor(
    private readonly fn: IrFunction,
    private readonly needed: NeededInstructions,
  ) {
    this.constants = constantRegisters(fn);
  }

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
    const given = this.valueGiven(instruction);
    if (isNeeded && passed === undefined) this.use(instruction);
    const product = isNeeded ? this.productOf(instruction) : undefined;
    for (const register of writtenRegisters(instruction)) {
      const before = this.held.get(register);
      // A guarded write may leave the product in its register: what reads it later reads either.
      if (before !== undefined && isNeeded && instruction.guard !== undefined) before.product.isFree = false;
      this.held.delete(register);
      this.values.set(register, given ?? `value ${this.valueCount++}`);
      if (passed !== undefined) this.held.set(register, passed);
      else if (product !== undefined) this.held.set(register, { product, isNegated: false });
    }
  }

  /** The product that an instruction hands to its destination as it is or with its sign changed. */
  private passedOn(instruction: IrInstruction): Held | undefined {
    const [source] = instruction.sources;
    if (source?.kind !== 'register' || instruction.guard !== undefined) return undefined;
    const held = this.held.get(source.register);
    if (held === undefined || instruction.destinations[0]?.kind !== 'register') return undefined;
    const isNeg = instruction.opcode === 'neg';
    if (isNeg ? !this.isAlike(instruction, held.product) : !this.copies(instruction, held.product))
      return undefined;
    held.product.copies.push(instruction.index);
    return { product: held.product, isNegated: held.isNegated !== isNeg };
  }

  private copies(instruction: IrInstruction, product: Product): boolean {
    if (instruction.opcode === 'mov') return true;
    const [to, from] = instruction.types;
    const isFloat = to === from && (to === 'f32' || to === 'f64');
    const others = instruction.modifiers.filter((modifier) => modifier !== to && modifier !== 'ftz');
    return (
      instruction.opcode === 'cvt' && isFloat && others.length === 0 && this.isAlike(instruction, product)
    );
  }

  /** Same type, and flushes denormals only where the product has none left. */
  private isAlike(instruction: IrInstruction, product: Product): boolean {
    const mul = this.fn.instructions[product.mul];
    if (mul === undefined || mul.types[0] !== instruction.types[0]) return false;
    // The card has no sign of its own on operands of these: changing it is a multiplication by -1.
    if (product.type.startsWith('bf16')) return false;
    return !instruction.modifiers.includes('ftz') || mul.modifiers.includes('ftz');
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
      if (first !== undefined && second !== undefined && isDoubled(first, second, instruction)) {
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
    const isQuotient = isProductOfReciprocal(instruction);
    if ((opcode !== 'mul' && !isQuotient) || guard !== undefined || modifiers.includes('sat'))
      return undefined;
    if (roundsFreely(instruction) === undefined || instruction.destinations[0]?.kind !== 'register')
      return undefined;
    const factors = sources.map((source) => this.valueOf(source));
    // Two constants are multiplied, and rounded, before anything else is done.
    if (factors.every(isConstant)) return undefined;
    const product: Product = {
      mul: instruction.index,
      type: instruction.types[0] ?? 'f32',
      uses: [],
      copies: [],
      isFree: true,
      factors: isQuotient ? factors.join('/') : productKey(factors),
    };
    this.products.push(product);
    return product;
  }

  /** The value that an instruction gives its destination, where equal ones can be told. */
  private valueGiven({ opcode, guard, modifiers, sources }: IrInstruction): string | undefined {
    if (guard !== undefined) return undefined;
    const values = sources.map((source) => this.valueOf(source));
    const [first = ''] = values;
    if (opcode === 'mov' && values.length === 1) return first;
    if (!folded.has(opcode)) return undefined;
    if (values.every(isConstant)) return `constant ${this.valueCount++}`;
    const isSignOnly = opcode === 'neg' && !modifiers.includes('ftz');
    return isSignOnly ? (first.startsWith('-') ? first.slice(1) : `-${first}`) : undefined;
  }

  private valueOf(operand: IrOperand): string {
    if (operand.kind === 'float') return `constant ${operand.high} ${operand.low}`;
    if (operand.kind !== 'register') return `value ${this.valueCount++}`;
    let value = this.values.get(operand.register) ?? this.constants.get(operand.register);
    if (value === undefined) this.values.set(operand.register, (value = `value ${this.valueCount++}`));
    return value;
  }
}

/** A sum of one product with itself, or with an equal one, is that product twice and no `fma`. */
function isDoubled(first: ProductUse, second: ProductUse, { opcode }: IrInstruction): boolean {
  if (first.product === second.product) return true;
  const isSame = first.isNegated === second.isNegated && first.product.factors === second.product.factors;
  return opcode === 'add' && isSame;
}

/** What a compiler works out itself when all operands are constants. */
const folded = new Set(['add', 'sub', 'mul', 'fma', 'neg', 'abs']);

function isConstant(value: string): boolean {
  return value.includes('constant');
}

/** A product's factors without regard to their order, and to where its sign comes from. */
function productKey(factors: readonly string[]): string {
  const isNegative = factors.filter((factor) => factor.startsWith('-')).length % 2 === 1;
  const sorted = factors.map((factor) => (factor.startsWith('-') ? factor.slice(1) : factor)).sort();
  return `${isNegative ? '-' : ''}${sorted.join('*')}`;
}

/** Registers that one `mov` sets to a literal, and nothing else ever. */
function constantRegisters(fn: IrFunction): Map<number, string> {
  const constants = new Map<number, string>();
  const written = new Set<number>();
  for (const instruction of fn.instructions) {
    const [source] = instruction.sources;
    for (const register of writtenRegisters(instruction)) {
      if (written.has(register)) constants.delete(register);
      else if (instruction.opcode === 'mov' && instruction.guard === undefined && source?.kind === 'float')
        constants.set(register, `constant ${source.high} ${source.low}`);
      written.add(register);
    }
  }
  return constants;
}
