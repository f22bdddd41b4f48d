import type { ParsedInstruction } from './instructionParser.js';
import type { IrInstruction, IrOperand, ScalarType } from './ir.js';
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

/** A call passes and takes predicates as words. */
export function passPredicates(call: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const { line, guard } = call;
  const before: ParsedInstruction[] = [];
  const after: ParsedInstruction[] = [];
  const isPredicate = (operand: IrOperand): boolean =>
    operand.kind === 'register' && scopes.registers[operand.register]?.type === 'pred';
  const sources = call.sources.map((operand): IrOperand => {
    if (!isPredicate(operand)) return operand;
    const word: IrOperand = { kind: 'register', register: scopes.temporary('b32') };
    before.push(step(line, guard, 'selp.b32', [word], [one, zero, operand]));
    return word;
  });
  const destinations = call.destinations.map((operand): IrOperand => {
    if (!isPredicate(operand)) return operand;
    const word: IrOperand = { kind: 'register', register: scopes.temporary('b32') };
    after.push(step(line, guard, 'setp.ne.u32', [operand], [word, zero]));
    return word;
  });
  if (before.length === 0 && after.length === 0) return [call];
  return [...before, { ...call, sources, destinations }, ...after];
}
