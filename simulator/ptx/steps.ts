import type { ParsedInstruction } from './instructionParser.js';
import type { IrOperand, ScalarType } from './ir.js';
import { isScalarType } from './scalarTypes.js';
import type { FunctionScopes } from './scopes.js';
import { canonicalModifiers } from './spelling.js';

export const register = (number: number): IrOperand => ({ kind: 'register', register: number });

/** The instructions that stand for one, under its guard. */
export class Steps {
  readonly written: ParsedInstruction[] = [];

  constructor(
    private readonly of: ParsedInstruction,
    private readonly scopes: FunctionScopes,
  ) {}

  /** @param spelling opcode and modifiers, with their dots */
  add(spelling: string, destinations: readonly IrOperand[], sources: readonly IrOperand[]): void {
    const [opcode = '', ...spelled] = spelling.split('.');
    const modifiers = canonicalModifiers(opcode, spelled);
    const { line, text, guard } = this.of;
    this.written.push({
      line,
      text,
      labels: [],
      opcode,
      modifiers,
      types: modifiers.filter(isScalarType),
      destinations,
      sources,
      ...(guard === undefined ? {} : { guard }),
    });
  }

  /** Adds an instruction that writes a fresh register of its last type, or of another. */
  make(spelling: string, sources: readonly IrOperand[], type?: ScalarType): IrOperand {
    const held = type ?? spelling.split('.').filter(isScalarType).at(-1) ?? 'b64';
    const made = register(this.scopes.temporary(held));
    this.add(spelling, [made], sources);
    return made;
  }

  /** A number of 64 bits by its halves. */
  pair(low: IrOperand, high: IrOperand): IrOperand {
    if (low.kind === 'integer' && high.kind === 'integer')
      return { kind: 'integer', low: low.low, high: high.low };
    const elements = [low, high].map((each) =>
      each.kind === 'register' ? each : this.make('mov.b32', [each]),
    );
    return this.make('mov.b64', [{ kind: 'vector', elements }]);
  }

  /** An address of shared memory, whichever space it was written in. */
  shared(address: IrOperand): IrOperand {
    const isWritten = this.of.modifiers.some((each) => each.startsWith('shared'));
    if (isWritten || address.kind !== 'address' || typeof address.base !== 'number') return address;
    const narrowed = this.make('cvta.to.shared.u64', [register(address.base)]);
    return {
      kind: 'address',
      base: narrowed.kind === 'register' ? narrowed.register : undefined,
      offset: address.offset,
    };
  }
}

/** An instruction that may not be written so. */
export function refusedFor(parsed: ParsedInstruction, reason: string): ParsedInstruction {
  return { ...parsed, destinations: [], sources: [], opaque: true, reason };
}
