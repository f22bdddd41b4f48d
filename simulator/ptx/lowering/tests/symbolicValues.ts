import type { IrFunction, IrInstruction, IrOperand } from '../../ir.js';

interface Value {
  readonly text: string;
  readonly isNegative: boolean;
}

/**
 * What a straight-line kernel stores, by offset, as expressions of what it loads: `in16`, `M(a*b)` a product, `A(a+b)` a sum,
 * `F(a*b+c)` an fma, `S(p?a:b)` a selection. Factors and terms are sorted and the signs of products drawn out, so that
 * equal expressions are equal texts. For tests of passes that may not change, or only change in a known way, what is computed.
 */
export function storedValues(fn: IrFunction): Record<string, string> {
  const values = new Map<number, Value>();
  const stored: Record<string, string> = {};
  for (const instruction of fn.instructions) {
    const [to] = instruction.destinations;
    const [address, source] = instruction.sources;
    if (instruction.opcode === 'st' && address?.kind === 'address') {
      stored[address.offset] = shown(valueOf(source, values));
    }
    if (to?.kind !== 'register') continue;
    const computed = result(instruction, values);
    const { guard } = instruction;
    if (guard === undefined) values.set(to.register, computed);
    else {
      const before = values.get(to.register) ?? positive('undefined');
      const [yes, no] = guard.negated ? [before, computed] : [computed, before];
      const predicate = values.get(guard.register)?.text ?? '?';
      const isSame = shown(yes) === shown(no);
      values.set(to.register, isSame ? yes : positive(`S(${predicate}?${shown(yes)}:${shown(no)})`));
    }
  }
  return stored;
}

function result(instruction: IrInstruction, values: ReadonlyMap<number, Value>): Value {
  const { opcode, modifiers, sources } = instruction;
  const flags = ['ftz', 'sat']
    .filter((flag) => modifiers.includes(flag))
    .map((flag) => `.${flag}`)
    .join('');
  const [a, b, c] = sources.map((source) => valueOf(source, values));
  const first = a ?? positive('nothing');
  const second = b ?? positive('nothing');
  switch (opcode) {
    case 'mov':
      return first;
    case 'neg':
      return opposite(first);
    case 'mul': {
      const isNegative = first.isNegative !== second.isNegative;
      const factors = [first.text, second.text].sort().join('*');
      if (modifiers.includes('sat')) return positive(`M${flags}(${isNegative ? '-' : ''}${factors})`);
      return { text: `M${flags}(${factors})`, isNegative };
    }
    case 'add':
      return sum(first, second, flags);
    case 'sub':
      return sum(first, opposite(second), flags);
    case 'fma': {
      const sign = first.isNegative !== second.isNegative ? '-' : '';
      const factors = [first.text, second.text].sort().join('*');
      return positive(`F${flags}(${sign}${factors}+${shown(c ?? positive('nothing'))})`);
    }
    case 'setp':
      return positive(`p(${first.text})`);
    case 'ld':
      return first;
    default:
      throw new RangeError(`line ${instruction.line}: '${opcode}' has no symbolic value`);
  }
}

function sum(a: Value, b: Value, flags: string): Value {
  return positive(`A${flags}(${[shown(a), shown(b)].sort().join('+')})`);
}

function valueOf(operand: IrOperand | undefined, values: ReadonlyMap<number, Value>): Value {
  if (operand?.kind === 'register') return values.get(operand.register) ?? positive('undefined');
  if (operand?.kind === 'address') return positive(`in${operand.offset}`);
  return positive(operand?.kind ?? 'nothing');
}

function positive(text: string): Value {
  return { text, isNegative: false };
}

function opposite({ text, isNegative }: Value): Value {
  return { text, isNegative: !isNegative };
}

function shown({ text, isNegative }: Value): string {
  return isNegative ? `-${text}` : text;
}
