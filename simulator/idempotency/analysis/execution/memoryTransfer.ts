import type { IrInstruction, IrOperand, ScalarType } from '../../../ptx/index.js';
import { isa, isFloatType, isSignedType, memoryEffect, typeBytes } from '../../../ptx/index.js';
import type { Expression } from '../expressions/expression.js';
import { constantOf, termsOf, typeRange } from '../expressions/expression.js';
import { contains } from '../expressions/rewriting.js';
import type { Range } from '../expressions/staticRange.js';
import type { Operands } from '../transfer/operands.js';
import { integerBits } from '../transfer/operands.js';
import { privateSpaceOf } from '../transfer/transfer.js';
import type { Findings, FoundLoop } from './findings.js';
import type { Path } from './path.js';
import type { ThreadState } from './threadState.js';

export type Space = 'global' | 'shared' | 'local' | 'param' | 'const';

/** What dies with a block or a thread, and may hold what two runs see differently. */
const PRIVATE_SPACES = ['shared', 'local'] as const;
type PrivateSpace = (typeof PRIVATE_SPACES)[number];

/** What holds around an instruction, and where what it does to memory is noted. */
export interface Surroundings {
  /** Loops around, outermost first. */
  readonly loops: readonly FoundLoop[];
  /** Undefined while a loop is only explored. */
  readonly findings: Findings | undefined;
  /** Spaces whose loads two runs may see differently. */
  readonly taintedSpaces: ReadonlySet<PrivateSpace>;
  /** Opcodes by which threads are told what two runs may see differently. */
  readonly taintedExchanges: ReadonlySet<string>;
  /** Loads of shared memory that no barrier orders with the stores, and of what nothing has been stored to. */
  readonly racingLoads: ReadonlySet<number>;
}

export interface MemoryPlace extends Surroundings {
  readonly path: Path;
  readonly state: ThreadState;
  /** No predicate can keep it from happening here. */
  readonly isCertain: boolean;
}

export function accessesMemory({ opcode }: IrInstruction): boolean {
  return memoryEffect(opcode) !== undefined;
}

/**
 * What a memory instruction does: notes its accesses of global memory and gives what it loads, one expression an element of
 * its destination.
 */
export function accessMemory(o: Operands, place: MemoryPlace): Expression[] {
  const { opcode, modifiers } = o.instruction;
  // A device sees every such access: one that is repeated rings it again.
  if (modifiers.includes('mmio')) {
    place.findings?.hazards.push({
      what: 'atomic',
      line: o.instruction.line,
      text: `${[opcode, ...modifiers].join('.')} reaches a device`,
    });
  }
  switch (memoryEffect(opcode)) {
    case 'store':
      store(o, place);
      return [];
    case 'atomic':
    case 'reduction':
      return atomic(o, place);
    case 'copy':
      if (modifiers.includes('ca') || modifiers.includes('cg')) copyAsync(o, place);
      return [];
    case 'discard': {
      const size = o.instruction.sources[1];
      note(o, place, 'write', o.raw(0), size?.kind === 'integer' ? size.low : 128);
      return [];
    }
    case 'load':
    case undefined:
      return load(o, place);
  }
}

const named: Readonly<Record<string, Space>> = {
  global: 'global',
  shared: 'shared',
  'shared::cta': 'shared',
  local: 'local',
  param: 'param',
  'param::entry': 'param',
  'param::func': 'param',
  const: 'const',
};

/** The space of an access; a generic one is global unless its address certainly is not. */
export function spaceOf(o: Operands, address: Expression): Space {
  for (const modifier of o.instruction.modifiers) {
    const space = named[modifier];
    if (space !== undefined) return space;
  }
  return isa(o.instruction.opcode).effects.isReadOnly ? 'global' : (privateSpaceOf(address) ?? 'global');
}

/** Whether an access that counts as one of global memory may be to private memory as well: its address is chosen, or from memory. */
function mayBePrivate(o: Operands, address: Expression, space: Space): boolean {
  if (space !== 'global' || isa(o.instruction.opcode).effects.isReadOnly) return false;
  if (o.instruction.modifiers.some((modifier) => named[modifier] !== undefined)) return false;
  return contains(address, ({ op }) => /^(place|unknown|hull|carried)$/.test(op));
}

/** Whether an address is one in a constant variable, which no kernel writes: other addresses lead to global memory all the same. */
function isConstant({ context }: Operands, address: Expression): boolean {
  return termsOf(address).some(({ coefficient, factors }) => {
    const [symbol] = factors;
    if (coefficient !== 1 || factors.length !== 1 || symbol?.op !== 'symbol') return false;
    return context.spaceOf(symbol.name) === 'const';
  });
}

export function note(
  o: Operands,
  place: MemoryPlace,
  kind: 'read' | 'write',
  address: Expression,
  bytes: number,
): void {
  const { line, index } = o.instruction;
  place.findings?.accesses.push({
    line,
    instruction: index,
    kind,
    bytes,
    address,
    path: place.path,
    loops: place.loops,
  });
}

/** A fetch reads somewhere in memory that its texture object names, which no argument tells: anywhere. */
export function noteFetch(o: Operands, place: MemoryPlace): void {
  const source = { cause: 'NA' as const, line: o.instruction.line, text: 'the memory of a texture object' };
  note(o, place, 'read', o.context.opaque(64, source, o.tainted), MOST_TEXEL_BYTES);
}

const MOST_TEXEL_BYTES = 16;

export function noteShared(
  o: Operands,
  { findings, path }: MemoryPlace,
  address: Expression,
  bytes: number,
  values: readonly (Expression | undefined)[],
): void {
  findings?.sharedStores.push({ instruction: o.instruction.index, address, bytes, values, path });
}

function elementsOf(operand: IrOperand | undefined): readonly IrOperand[] {
  if (operand === undefined) return [];
  return operand.kind === 'vector' ? operand.elements : [operand];
}

function load(o: Operands, place: MemoryPlace): Expression[] {
  const elements = elementsOf(o.instruction.destinations[0]);
  const bytes = typeBytes(o.type);
  const address = o.raw(0);
  const space = spaceOf(o, address);
  if (space === 'param') return elements.map((_, index) => parameter(o, address, index * bytes, bytes));
  if (space === 'global' || (space === 'const' && !isConstant(o, address)))
    note(o, place, 'read', address, bytes * elements.length);
  return elements.map((_, index) => {
    if (space === 'local') {
      const at = o.arithmetic.addConstant(address, index * bytes);
      const known = place.state.local.load(at, bytes);
      if (known !== undefined && !isFloatType(o.type)) return o.arithmetic.wrap(known, o.bits, o.signed);
      if (known !== undefined) return known;
    }
    return loadedValue(o, place, address, space, bytes * 8, loadedRange(o.type));
  });
}

/** A value from memory of which nothing is known but perhaps its range; tainted where two runs may load different ones. */
export function loadedValue(
  o: Operands,
  place: Surroundings,
  address: Expression,
  space: Space,
  bits: number,
  range?: Range,
): Expression {
  const isOpen = mayBePrivate(o, address, space);
  const isPrivate = (which: PrivateSpace): boolean => space === which || isOpen;
  const isNamedLocal = o.instruction.modifiers.includes('local');
  const isRacing = (isPrivate('shared') || isNamedLocal) && place.racingLoads.has(o.instruction.index);
  const isTainted =
    address.tainted ||
    isRacing ||
    PRIVATE_SPACES.some((which) => isPrivate(which) && place.taintedSpaces.has(which));
  const source = address.source ?? {
    cause: 'NA' as const,
    line: o.instruction.line,
    text: `a value loaded from ${space} memory`,
  };
  return o.context.opaque(bits, source, isTainted, range);
}

function loadedRange(type: ScalarType): Range | undefined {
  if (isFloatType(type) || !/^[subpred]/.test(type)) return undefined;
  const bits = integerBits(type);
  if (bits === 64) return [-Infinity, Infinity];
  const [lo, hi] = typeRange(bits, isSignedType(type));
  // Untyped bits may be taken for either.
  return type.startsWith('b') ? [-(2 ** (bits - 1)), hi] : [lo, hi];
}

/** A kernel's argument where the offset is constant. */
function parameter(o: Operands, address: Expression, above: number, bytes: number): Expression {
  const { table, arithmetic } = o.context;
  const offset = arithmetic.subtract(address, table.place('param', ''));
  const generic = arithmetic.subtract(offset, table.place('param', 'window'));
  const known = offset.op === 'constant' ? offset : generic.op === 'constant' ? generic : undefined;
  // Of a floating point argument the bits, which comparisons with zero can be told from.
  const isPlain = bytes === 1 || bytes === 2 || bytes === 4 || bytes === 8;
  if (known !== undefined && isPlain) {
    // A register of the argument's own width holds it modulo 2^bits: one sign for all who read it.
    const signed = o.signed || (bytes >= 4 && bytes * 8 === destinationBits(o));
    return table.argument(constantOf(known) + above, bytes, signed);
  }
  const source = {
    cause: 'NA' as const,
    line: o.instruction.line,
    text: 'a part of an argument chosen by a value',
  };
  return o.context.opaque(bytes * 8, source, address.tainted, loadedRange(o.type));
}

function destinationBits({ context, instruction }: Operands): number {
  const [first] = elementsOf(instruction.destinations[0]);
  const type = first?.kind === 'register' ? context.kernel.registers[first.register]?.type : undefined;
  return type === undefined ? 0 : typeBytes(type) * 8;
}

function store(o: Operands, place: MemoryPlace): void {
  const elements = elementsOf(o.instruction.sources[1]);
  const bytes = typeBytes(o.type);
  const address = o.raw(0);
  const space = spaceOf(o, address);
  const values = elements.map((element) => (element.kind === 'float' ? undefined : o.read(element)));
  taintOfStore(
    o,
    place,
    address,
    space,
    values.some((value) => value?.tainted === true),
  );
  if (space === 'shared' || mayBePrivate(o, address, space)) {
    const told = elements.map((element, index) =>
      element.kind === 'float' && element.high === 0
        ? o.arithmetic.constant(element.low >>> 0)
        : values[index],
    );
    noteShared(o, place, address, bytes * elements.length, told);
  }
  if (space === 'global') {
    note(o, place, 'write', address, bytes * elements.length);
    // A generic store may as well go to local memory.
    if (!o.instruction.modifiers.includes('global')) place.state.local.store(address, bytes, undefined);
    return;
  }
  if (space !== 'shared' && space !== 'local') return;
  if (space === 'shared') return;
  values.forEach((value, index) => {
    const at = o.arithmetic.addConstant(address, index * bytes);
    place.state.local.store(at, bytes, place.isCertain ? value : undefined);
  });
}

/** A store of something, or somewhere, or under a condition, that two runs may see differently taints private memory. */
export function taintOfStore(
  o: Operands,
  place: MemoryPlace,
  address: Expression,
  space: Space,
  isOfTainted: boolean,
): void {
  if (!address.tainted && !isOfTainted && !isTainted(place.path)) return;
  const isOpen = mayBePrivate(o, address, space);
  for (const which of PRIVATE_SPACES) if (space === which || isOpen) place.findings?.taintedSpaces.add(which);
}

export function isTainted(path: Path): boolean {
  return path.since().some((condition) => condition.tainted);
}

function atomic(o: Operands, place: MemoryPlace): Expression[] {
  const { line, opcode, modifiers, destinations } = o.instruction;
  const space = spaceOf(o, o.raw(0));
  if (space === 'global') {
    const bytes = typeBytes(o.type) * elementsOf(o.instruction.sources[1]).length;
    note(o, place, 'read', o.raw(0), bytes);
    note(o, place, 'write', o.raw(0), bytes);
    place.findings?.hazards.push({
      what: 'atomic',
      line,
      text: `${[opcode, ...modifiers].join('.')} reads and writes global memory`,
    });
  } else if (space === 'shared') place.findings?.taintedSpaces.add('shared');
  else place.state.local.store(o.raw(0), 16, undefined);
  const source = { cause: 'NA' as const, line, text: 'the result of an atomic operation' };
  return elementsOf(destinations[0]).map(() => o.context.opaque(64, source, true));
}

function copyAsync(o: Operands, place: MemoryPlace): void {
  const size = o.instruction.sources[2];
  if (o.tainted || isTainted(place.path)) place.findings?.taintedSpaces.add('shared');
  noteShared(o, place, o.raw(0), size?.kind === 'integer' ? size.low : 16, [undefined]);
  note(o, place, 'read', o.raw(1), size?.kind === 'integer' ? size.low : 16);
}
