import { eachFunction } from './eachFunction.js';
import type { IrFunction, IrInstruction, IrModule, IrOperand, IrRegister, ScalarType } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import { writtenRegisters } from '../analysis/registerUse.js';
import { neededInstructions } from './neededInstructions.js';
import { ProductFinder, type Product, type ProductUse } from './products.js';
import { isProductOfReciprocal, quotientFactors } from './quotient.js';
import { replaceInstructions, type NewInstruction } from './replacement.js';
import { roundsFreely } from './roundsFreely.js';
import { straightLines } from './straightLine.js';

/**
 * Makes an `fma` of a `mul` and an `add` or `sub` wherever the card's own compiler does at its default level, so that
 * results are the card's to the last bit.
 *
 * The rule, as measured: neither has a rounding written (which forbids it), both flush denormals or neither does, the `mul`
 * neither saturates nor is guarded, and no branch parts them. The `mul` must be spared altogether: whatever needs its
 * rounded result keeps all its sums as they are. `div.approx` and `div.full` end in such a `mul` too. Of a sum of two such products one goes into the `fma`: that which nothing else
 * reads, or else the first. Nothing is contracted for a debugger (`.target …, debug`).
 *
 * Not followed: what the card's compiler brings together only by other passes before this one. It unrolls loops (a product that
 * the next round of a loop adds may be contracted), decides branches on constants, merges equal sums.
 */
export function contractModule(ir: IrModule): IrModule {
  if (ir.targets.includes('debug')) return ir;
  return eachFunction(ir, contractFunction);
}

export function contractFunction(fn: IrFunction): IrFunction {
  if (!hasProductsAndSums(fn)) return fn;
  const finder = new ProductFinder(fn, neededInstructions(fn));
  const lines = straightLines(fn);
  for (const line of lines) finder.scan(line);
  const chosen = chooseProducts(finder);
  return chosen.length === 0 ? fn : new Contraction(fn, chosen, lines).result();
}

/** Without both there is nothing to contract, and nothing to analyse. */
function hasProductsAndSums({ instructions }: IrFunction): boolean {
  let hasProduct = false;
  let hasSum = false;
  for (const instruction of instructions) {
    const { opcode } = instruction;
    const isSum = opcode === 'add' || opcode === 'sub';
    if (isSum ? hasSum : hasProduct || (opcode !== 'mul' && opcode !== 'div')) continue;
    if (roundsFreely(instruction) === undefined && !isProductOfReciprocal(instruction)) continue;
    if (isSum) hasSum = true;
    else hasProduct = true;
    if (hasProduct && hasSum) return true;
  }
  return false;
}

/**
 * Which product each sum takes over. Of `.f32` and `.f64`, sums of products that nothing else reads come first, then the
 * others, all in program order; the other product of a sum is thereby needed rounded.
 */
function chooseProducts(finder: ProductFinder): ProductUse[] {
  const chosen = new Map<number, ProductUse>();
  const sums = [...finder.sums].sort((a, b) => a[0] - b[0]);
  for (const isSecondRound of [false, true]) {
    for (const [sum, products] of sums) {
      if (chosen.has(sum)) continue;
      const use = products.find(
        (each) => each?.product.isFree === true && isLate(each.product) === isSecondRound,
      );
      if (use === undefined) continue;
      chosen.set(sum, use);
      for (const other of products) if (other !== undefined && other !== use) other.product.isFree = false;
    }
  }
  return [...chosen.values()];
}

function isLate({ uses, type }: Product): boolean {
  return uses.length > 1 && (type === 'f32' || type === 'f64');
}

/** Rewrites one function. */
class Contraction {
  private readonly replacements = new Map<number, NewInstruction[]>();
  private readonly added: IrRegister[] = [];
  /** Place of each instruction in its straight line; lines are far apart. */
  private readonly writes = new Map<number, number[]>();
  private readonly place = new Map<number, number>();

  constructor(
    private readonly fn: IrFunction,
    chosen: readonly ProductUse[],
    lines: readonly (readonly number[])[],
  ) {
    const uses = new Map<Product, ProductUse[]>();
    for (const use of chosen) uses.set(use.product, [...(uses.get(use.product) ?? []), use]);
    this.removeProducts(
      [...uses].filter(([product, sums]) => sums.length === product.uses.length).map(([product]) => product),
    );
    this.numberWrites(lines);
    for (const [product, sums] of uses) this.contract(product, sums);
  }

  result(): IrFunction {
    return replaceInstructions(this.fn, this.replacements, this.added);
  }

  /** Takes products and their copies out, except where that would leave a block without instructions. */
  private removeProducts(products: readonly Product[]): void {
    for (const { mul, copies } of products) for (const at of [mul, ...copies]) this.replacements.set(at, []);
    for (const block of this.fn.blocks) {
      let isEmpty = true;
      for (let at = block.first; at <= block.last; at++) isEmpty &&= this.replacements.has(at);
      if (!isEmpty) continue;
      for (let at = block.first; at <= block.last; at++) this.replacements.delete(at);
    }
  }

  private numberWrites(lines: readonly (readonly number[])[]): void {
    let place = 0;
    for (const line of lines) {
      for (const index of line) {
        const block = this.fn.blocks[index];
        if (block === undefined) continue;
        for (let at = block.first; at <= block.last; at++) {
          this.place.set(at, ++place);
          const instruction = this.fn.instructions[at];
          if (instruction === undefined || this.replacements.has(at)) continue;
          for (const register of writtenRegisters(instruction)) {
            const writes = this.writes.get(register);
            if (writes === undefined) this.writes.set(register, [place]);
            else writes.push(place);
          }
        }
      }
    }
  }

  private contract(product: Product, uses: readonly ProductUse[]): void {
    const mul = this.instruction(product.mul);
    const before: NewInstruction[] = [];
    const last = Math.max(...uses.map((use) => this.placeOf(use.sum)));
    const multiplied = isProductOfReciprocal(mul)
      ? quotientFactors(mul, before, (type) => this.freshRegister(type))
      : mul.sources;
    const factors = multiplied.map((factor) => this.kept(factor, mul, last, before));
    let negated: IrOperand[] | undefined;
    for (const use of uses) {
      const sum = this.instruction(use.sum);
      const isSubtraction = sum.opcode === 'sub';
      const isNegative = use.isNegated !== (isSubtraction && use.source === 1);
      if (isNegative) negated ??= this.negatedFactors(factors, mul, before);
      const addend = sum.sources[1 - use.source];
      if (addend === undefined) throw new RangeError(`line ${sum.line}: '${sum.opcode}' has one source`);
      const around: NewInstruction[] = [];
      const third = isSubtraction && use.source === 0 ? this.negative(addend, sum, around) : addend;
      const modifiers = ['rn', ...sum.modifiers];
      around.push({
        ...sum,
        opcode: 'fma',
        modifiers,
        sources: [...(isNegative ? (negated ?? factors) : factors), third],
      });
      this.replacements.set(use.sum, around);
    }
    const stays = this.replacements.get(product.mul) === undefined;
    this.replacements.set(product.mul, stays ? [...before, mul] : before);
  }

  /** An operand that still has its value at `place`: itself, or a copy made at the `mul`. */
  private kept(factor: IrOperand, mul: IrInstruction, place: number, before: NewInstruction[]): IrOperand {
    if (factor.kind !== 'register') return factor;
    const from = this.placeOf(mul.index);
    const isOverwritten = this.writes.get(factor.register)?.some((at) => at >= from && at < place) === true;
    if (!isOverwritten) return factor;
    const copy = this.fresh(mul);
    before.push({ ...unary('mov', mul, copy, factor) });
    return copy;
  }

  private negatedFactors(
    factors: readonly IrOperand[],
    mul: IrInstruction,
    before: NewInstruction[],
  ): IrOperand[] {
    const constant = factors.findIndex((factor) => factor.kind === 'float');
    const which = Math.max(0, constant);
    return factors.map((factor, index) => (index === which ? this.negative(factor, mul, before) : factor));
  }

  private negative(operand: IrOperand, at: IrInstruction, before: NewInstruction[]): IrOperand {
    if (operand.kind === 'float') {
      const sign = -0x80000000;
      return operand.width === 32
        ? { ...operand, low: operand.low ^ sign }
        : { ...operand, high: operand.high ^ sign };
    }
    const negative = this.fresh(at);
    before.push(unary('neg', at, negative, operand));
    return negative;
  }

  private fresh(like: IrInstruction): IrOperand & { kind: 'register' } {
    return this.freshRegister(registerType(like.types[0] ?? 'f32'));
  }

  private freshRegister(type: ScalarType): IrOperand & { kind: 'register' } {
    const register = this.fn.registers.length + this.added.length;
    this.added.push({ name: `%contracted${this.added.length}`, type });
    return { kind: 'register', register };
  }

  private placeOf(instruction: number): number {
    return this.place.get(instruction) ?? 0;
  }

  private instruction(index: number): IrInstruction {
    const found = this.fn.instructions[index];
    if (found === undefined) throw new RangeError(`${this.fn.name} has no instruction ${index}`);
    return found;
  }
}

/** Halves live in registers of bits. */
function registerType(type: ScalarType): ScalarType {
  if (type === 'f32' || type === 'f64') return type;
  return typeBits(type) === 16 ? 'b16' : 'b32';
}

function unary(opcode: 'mov' | 'neg', like: IrInstruction, to: IrOperand, from: IrOperand): NewInstruction {
  const type = like.types[0] ?? 'f32';
  const types = [opcode === 'mov' ? registerType(type) : type];
  return { line: like.line, opcode, modifiers: types, types, destinations: [to], sources: [from] };
}
