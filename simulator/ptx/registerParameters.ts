import type { ParsedInstruction } from './instructionParser.js';
import type { IrInstruction, IrOperand, ScalarType } from './ir.js';
import type { ParameterLayout } from './parameters.js';
import { isScalarType, typeBytes } from './scalarTypes.js';
import type { FunctionScopes } from './scopes.js';

/** A register of a formal parameter, or one component of it. */
interface FormalComponent {
  readonly number: number;
  readonly type: ScalarType;
  readonly parameter: string;
  readonly component: number;
}

const zero: IrOperand = { kind: 'integer', low: 0, high: 0 };
const one: IrOperand = { kind: 'integer', low: 1, high: 0 };

function step(
  line: number,
  guard: IrInstruction['guard'],
  spelled: string,
  destinations: readonly IrOperand[],
  sources: readonly IrOperand[],
): ParsedInstruction {
  const [opcode = '', ...modifiers] = spelled.split('.');
  const types = modifiers.filter(isScalarType);
  return {
    line,
    opcode,
    modifiers,
    types,
    text: spelled,
    labels: [],
    destinations,
    sources,
    ...(guard === undefined ? {} : { guard }),
  };
}

/** Loads a formal register from its parameter, or stores it there; a predicate is a word in memory. */
export function formalMoves<At extends { readonly line: number; readonly guard: IrInstruction['guard'] }>(
  opcode: 'ld' | 'st',
  { number, type, parameter, component }: FormalComponent,
  at: At,
  temporary: () => number,
): (ParsedInstruction & At)[] {
  const { line, guard } = at;
  const isPredicate = type === 'pred';
  const passed = isPredicate ? 'b32' : type;
  const own: IrOperand = { kind: 'register', register: number };
  const value: IrOperand = isPredicate ? { kind: 'register', register: temporary() } : own;
  const address: IrOperand = { kind: 'address', base: parameter, offset: component * typeBytes(passed) };
  const spelled = `${opcode}.param.${passed}`;
  const moves =
    opcode === 'ld'
      ? [
          step(line, guard, spelled, [value], [address]),
          ...(isPredicate ? [step(line, guard, 'setp.ne.u32', [own], [value, zero])] : []),
        ]
      : [
          ...(isPredicate ? [step(line, guard, 'selp.b32', [value], [one, zero, own])] : []),
          step(line, guard, spelled, [], [address, value]),
        ];
  return moves.map((each) => ({ ...each, ...at }));
}

/** A call passes and takes predicates as words, and vectors in memory of the call. */
export function passRegisters(
  call: ParsedInstruction,
  scopes: FunctionScopes,
  memory: ParameterLayout,
): ParsedInstruction[] {
  const { line, guard } = call;
  const before: ParsedInstruction[] = [];
  const after: ParsedInstruction[] = [];
  const pass = (operand: IrOperand, isReturned: boolean): IrOperand => {
    if (operand.kind === 'vector') {
      const { name, moves } = inMemory(operand.elements, isReturned ? 'ld' : 'st', call, scopes, memory);
      (isReturned ? after : before).push(...moves);
      return { kind: 'symbol', name, offset: 0 };
    }
    if (operand.kind !== 'register' || scopes.registers[operand.register]?.type !== 'pred') return operand;
    const word: IrOperand = { kind: 'register', register: scopes.temporary('b32') };
    if (isReturned) after.push(step(line, guard, 'setp.ne.u32', [operand], [word, zero]));
    else before.push(step(line, guard, 'selp.b32', [word], [one, zero, operand]));
    return word;
  };
  const sources = call.sources.map((operand) => pass(operand, false));
  const destinations = call.destinations.map((operand) => pass(operand, true));
  if (before.length === 0 && after.length === 0) return [call];
  return [...before, { ...call, sources, destinations }, ...after];
}

/** Memory for the registers of a vector, and what stores or loads them there. */
function inMemory(
  elements: readonly IrOperand[],
  opcode: 'ld' | 'st',
  { line, guard }: ParsedInstruction,
  scopes: FunctionScopes,
  memory: ParameterLayout,
): { readonly name: string; readonly moves: readonly ParsedInstruction[] } {
  const [first] = elements;
  const type = (first?.kind === 'register' ? scopes.registers[first.register]?.type : undefined) ?? 'b32';
  const bytes = typeBytes(type);
  const name = scopes.freshSymbol('__vector');
  memory.add(name, type, bytes * elements.length, bytes * elements.length);
  const moves = elements.map((element, index) => {
    const address: IrOperand = { kind: 'address', base: name, offset: index * bytes };
    const spelled = `${opcode}.param.${type}`;
    return opcode === 'ld'
      ? step(line, guard, spelled, [element], [address])
      : step(line, guard, spelled, [], [address, element]);
  });
  return { name, moves };
}
