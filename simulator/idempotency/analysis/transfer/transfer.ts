import type { IrOperand } from '../../../ptx/index.js';
import { isa, typeBits } from '../../../ptx/index.js';
import type { Expression, IntegerBits } from '../expressions/expression.js';
import { bitResult, converted } from './bitTransfer.js';
import { selected, setPredicate, setValue, signSelected, truthLogic } from './comparisonTransfer.js';
import { integerResult } from './integerTransfer.js';
import { integerBits, type Operands } from './operands.js';

/**
 * What an instruction that touches no memory leaves in its destinations: one expression a register, in order. What is not
 * followed (floating point, exchange between lanes) is unknown; it is tainted when an operand is, or the instruction is.
 */
export function results(o: Operands, destinations: readonly IrOperand[]): Expression[] {
  const known = followed(o);
  if (known !== undefined) return known;
  return destinations.map((destination) => unknownFor(o, destination, isNondeterministic(o)));
}

/** Whether two runs may see its result differently, whatever its operands. */
function isNondeterministic({ instruction: { opcode, modifiers } }: Operands): boolean {
  const { taint } = isa(opcode);
  if (taint.kind === 'exchange') return taint.isOpenWithoutSync && !modifiers.includes('sync');
  return taint.kind === 'always';
}

export function unknownFor(o: Operands, destination: IrOperand, tainted: boolean): Expression {
  const register = destination.kind === 'register' ? destination.register : -1;
  const type = o.context.kernel.registers[register]?.type ?? 'b64';
  const isTainted = tainted || o.tainted;
  if (type === 'pred') return o.context.opaque(1, o.source(), isTainted, [0, 1]);
  return o.context.opaque(typeBits(type), o.source(), isTainted);
}

function followed(o: Operands): Expression[] | undefined {
  const { opcode } = o.instruction;
  switch (opcode) {
    case 'mov':
      return moved(o);
    case 'setp':
      return setPredicate(o);
    case 'set':
      return one(setValue(o));
    case 'selp':
      return [selected(o)];
    case 'slct':
      return one(signSelected(o));
    case 'cvt':
      return one(converted(o));
    case 'cvta':
      return [convertedAddress(o)];
    case 'isspacep':
      return [isInSpace(o)];
    case 'and':
    case 'or':
    case 'xor':
      if (o.type === 'pred') return [truthLogic(o, opcode, o.raw(0), o.raw(1))];
      break;
    case 'not':
      if (o.type === 'pred') return [o.conditions.not(o.raw(0))];
      break;
    default:
  }
  if (!/^[sub]\d+$/.test(o.type)) return undefined;
  return one(integerResult(o) ?? bitResult(o));
}

function one(value: Expression | undefined): Expression[] | undefined {
  return value === undefined ? undefined : [value];
}

/** Plain, packing and unpacking `mov`. */
function moved(o: Operands): Expression[] | undefined {
  const [source] = o.instruction.sources;
  const [destination] = o.instruction.destinations;
  if (source === undefined || destination === undefined) return undefined;
  const { arithmetic } = o;
  if (source.kind === 'vector') {
    const width = (typeBits(o.type) / source.elements.length) as IntegerBits;
    let total = arithmetic.constant(0);
    for (const [index, element] of source.elements.entries()) {
      const part = arithmetic.wrap(o.read(element), width, index === source.elements.length - 1);
      total = arithmetic.add(total, arithmetic.scale(part, 2 ** (index * width)));
    }
    return [total];
  }
  if (destination.kind !== 'vector') return source.kind === 'float' ? undefined : [o.raw(0)];
  const width = typeBits(o.type) / destination.elements.length;
  const whole = arithmetic.wrap(o.raw(0), integerBits(o.type), false);
  return destination.elements.map((_, index) => {
    if (index === 0) return arithmetic.reduce(o.raw(0), width as IntegerBits);
    return arithmetic.quotient(whole, arithmetic.constant(2 ** (index * width)), 'floor');
  });
}

const windows: Readonly<Record<string, 'shared' | 'local' | 'param' | undefined>> = {
  shared: 'shared',
  'shared::cta': 'shared',
  local: 'local',
  param: 'param',
  'param::entry': 'param',
};

function spaceIn(o: Operands): 'shared' | 'local' | 'param' | undefined {
  for (const modifier of o.instruction.modifiers) {
    const window = windows[modifier];
    if (window !== undefined) return window;
  }
  return undefined;
}

/** Generic addresses of private memory lie at a window of their space; those of global memory are the same. */
function convertedAddress(o: Operands): Expression {
  const space = spaceIn(o);
  if (space === undefined) return o.raw(0);
  const window = o.context.table.place(space, 'window');
  const isBack = o.instruction.modifiers.includes('to');
  return isBack ? o.arithmetic.subtract(o.raw(0), window) : o.arithmetic.add(o.raw(0), window);
}

/** Where an address certainly lies; undefined when it may be global memory. */
export function privateSpaceOf(address: Expression): 'shared' | 'local' | 'param' | undefined {
  const terms = address.op === 'sum' ? address.terms : [{ coefficient: 1, factors: [address] }];
  for (const { coefficient, factors } of terms) {
    const [place] = factors;
    if (coefficient !== 1 || factors.length !== 1 || place?.op !== 'place') continue;
    if (place.name === 'window' && place.space !== 'const') return place.space;
  }
  return undefined;
}

function isInSpace(o: Operands): Expression {
  const space = privateSpaceOf(o.raw(0));
  const asked = spaceIn(o);
  if (space !== undefined) return o.conditions.truth(space === asked);
  return o.unknownTruth();
}
