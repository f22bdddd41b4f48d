import { isa } from './isa/index.js';
import type { ParsedInstruction } from './instructionParser.js';
import type { IrOperand, ScalarType } from './ir.js';
import { arriveOfCopies, mbarrierSteps } from './mbarriers.js';
import { doubleLiteral, literalValue, singleLiteral } from './literals.js';
import { isScalarType, typeBits } from './scalarTypes.js';
import type { FunctionScopes } from './scopes.js';
import { canonicalModifiers } from './spelling.js';
import { reservedSharedMemory, specialRegisterBits } from './specialRegisters.js';
import { sourceTypes } from './support.js';

/**
 * Spellings that mean what simpler instructions mean are replaced by those, so that nothing behind the parser needs to
 * know them: vectors and 128-bit registers moved, braces around one register, special registers and variables as operands of `cvt` and `cvta`,
 * policies and hints to caches, the predicate of `cp.async`, mbarriers. One that may not be written as it is comes back
 * opaque, with the reason.
 */
export function rewrite(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  if (parsed.opaque === true) return [parsed];
  const plain = canonical(withoutLoneBraces(parsed), scopes);
  switch (isa(plain.opcode).syntax.rewritten) {
    case 'policy':
      // No cache follows a policy here, so that any value stands for it.
      return [
        withModifiers({ ...plain, opcode: 'mov', sources: [{ kind: 'integer', low: 0, high: 0 }] }, ['b64']),
      ];
    case 'move':
      return moveVector(plain, scopes).map(withRoundedLiterals);
    case 'symbol':
    case 'special':
      return moveSource(plain, scopes);
    case 'copy':
      return plain.modifiers.includes('mbarrier') ? arriveOfCopies(plain, scopes) : copySize(plain, scopes);
    case 'mbarrier':
      return mbarrierSteps(plain, scopes);
    case 'stack':
    case undefined:
      return [withRoundedLiterals(plain)];
  }
}

/** Without braces around one register, which code for Triton is full of. */
function withoutLoneBraces(parsed: ParsedInstruction): ParsedInstruction {
  if (!isa(parsed.opcode).syntax.isBraced) return parsed;
  const bare = (operand: IrOperand): IrOperand => {
    if (operand.kind !== 'vector' || operand.elements.length !== 1) return operand;
    const [element = operand] = operand.elements;
    return element.kind === 'sink' ? operand : element;
  };
  const isBraced = (operand: IrOperand): boolean => bare(operand) !== operand;
  if (!parsed.destinations.some(isBraced) && !parsed.sources.some(isBraced)) return parsed;
  return { ...parsed, destinations: parsed.destinations.map(bare), sources: parsed.sources.map(bare) };
}

function withModifiers(parsed: ParsedInstruction, modifiers: readonly string[]): ParsedInstruction {
  return { ...parsed, modifiers, types: modifiers.filter(isScalarType) };
}

/** The canonical spelling; without the policy that a hint to a cache names. */
function canonical(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction {
  const modifiers = canonicalModifiers(parsed.opcode, parsed.modifiers);
  if (modifiers === parsed.modifiers) return parsed;
  const hasHint = parsed.modifiers.includes('L2::cache_hint');
  const policy = parsed.sources.at(-1);
  const isPolicy =
    policy?.kind === 'register' && typeBits(scopes.registers[policy.register]?.type ?? 'b8') === 64;
  // Without a policy the instruction keeps its hint, and is refused for it.
  if (hasHint && !isPolicy) return parsed;
  return {
    ...withModifiers(parsed, modifiers),
    sources: hasHint ? parsed.sources.slice(0, -1) : parsed.sources,
  };
}

/** `mov.v2` and a move of one 128-bit register to another: a move for each component, as if all were at once. */
function moveVector(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const [to] = parsed.destinations;
  const [from] = parsed.sources;
  const isWide = parsed.modifiers.includes('b128');
  const isVector = parsed.modifiers.some((each) => /^v[24]$/.test(each)) || isWide;
  if (!isVector || to?.kind !== 'vector' || from?.kind !== 'vector') return [parsed];
  if (from.elements.length < to.elements.length) return [parsed];
  const modifiers = isWide ? ['b64'] : parsed.modifiers.filter((each) => !/^v[24]$/.test(each));
  const type = modifiers.find(isScalarType) ?? 'b32';
  const written = new Set(to.elements.map((each) => (each.kind === 'register' ? each.register : -1)));
  const early: ParsedInstruction[] = [];
  const moves = to.elements.flatMap((element, index): ParsedInstruction[] => {
    let source = from.elements[index] ?? element;
    if (element.kind === 'sink') return [];
    if (source.kind === 'register' && written.has(source.register)) {
      const kept: IrOperand = { kind: 'register', register: scopes.temporary(type) };
      early.push({ ...withModifiers(parsed, modifiers), destinations: [kept], sources: [source] });
      source = kept;
    }
    return [{ ...withModifiers(parsed, modifiers), destinations: [element], sources: [source] }];
  });
  return [...early, ...moves];
}

/** `cvt.u64.u32 %rd, %tid.x` and `cvta.global.u64 %rd, variable`: the operand is moved to a register first. */
function moveSource(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const [source] = parsed.sources;
  const { rewritten } = isa(parsed.opcode).syntax;
  const isSpecial = source?.kind === 'special' && rewritten === 'special';
  const isReserved = source?.kind === 'symbol' && source.name === reservedSharedMemory.name;
  const isVariable = source?.kind === 'symbol' && rewritten === 'symbol';
  if (!isSpecial && !isVariable && !isReserved) return [withRoundedLiterals(parsed)];
  const isShort = isVariable && parsed.types.at(-1) === 'u32';
  const isWord = isReserved || isShort || (isSpecial && specialRegisterBits(source.name) === 32);
  const type: ScalarType = isWord ? 'u32' : 'u64';
  const moved: IrOperand = { kind: 'register', register: scopes.temporary(type) };
  return [
    withModifiers({ ...parsed, opcode: 'mov', destinations: [moved], sources: [source] }, [type]),
    { ...parsed, sources: [moved, ...parsed.sources.slice(1)] },
  ];
}

/** `cp.async … size, p`: with p the source is ignored, which is a source of no bytes. */
function copySize(parsed: ParsedInstruction, scopes: FunctionScopes): ParsedInstruction[] {
  const [to, from, size, ignored] = parsed.sources;
  if (to === undefined || from === undefined || size === undefined || ignored?.kind !== 'register')
    return [parsed];
  if (scopes.registers[ignored.register]?.type !== 'pred') return [parsed];
  const bytes: IrOperand = { kind: 'register', register: scopes.temporary('b32') };
  const none: IrOperand = { kind: 'integer', low: 0, high: 0 };
  return [
    withModifiers({ ...parsed, opcode: 'selp', destinations: [bytes], sources: [none, size, ignored] }, [
      'b32',
    ]),
    { ...parsed, sources: [to, from, size, bytes] },
  ];
}

/** PTX lets a float literal be written in either precision anywhere; an f32 operation rounds it, one of f64 widens it. */
function withRoundedLiterals(parsed: ParsedInstruction): ParsedInstruction {
  if (!parsed.sources.some(hasFloat)) return parsed;
  const types = sourceTypes(parsed);
  return {
    ...parsed,
    sources: parsed.sources.map((operand, index) => {
      if (types[index] === 'f32') return rounded(operand);
      return types[index] === 'f64' ? widened(operand) : operand;
    }),
  };
}

function hasFloat(operand: IrOperand): boolean {
  if (operand.kind === 'vector') return operand.elements.some(hasFloat);
  return operand.kind === 'float';
}

function widened(operand: IrOperand): IrOperand {
  if (operand.kind === 'float' && operand.width === 32) return doubleLiteral(literalValue(operand));
  if (operand.kind === 'vector') return { kind: 'vector', elements: operand.elements.map(widened) };
  return operand;
}

function rounded(operand: IrOperand): IrOperand {
  if (operand.kind === 'float' && operand.width === 64) return singleLiteral(literalValue(operand));
  if (operand.kind === 'vector') return { kind: 'vector', elements: operand.elements.map(rounded) };
  return operand;
}
