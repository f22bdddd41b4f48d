/**
 * One rule for a family of instructions. A form says which types the instruction ends in (joined by dots), which other
 * modifiers it may and must have, and the types of its operands: a type of its own, `T` for its last type, `T1` for its
 * first, `W` for twice the width of T, `a` for an address, `i` for any 32-bit integer, `p` for a predicate, `l` for a
 * label. Braces mark what may be absent at the end; `v` before a type allows a vector of it, `|p` a predicate beside it.
 */
export interface InstructionForm {
  /** Of the whole list of types, joined by dots. */
  readonly types: RegExp;
  /** Every modifier that is no type must match this. */
  readonly allowed: RegExp;
  /** Some modifier must match each of these. */
  readonly required: readonly RegExp[];
  readonly destinations: readonly string[];
  readonly sources: readonly string[];
  /** The first PTX and target that have it; modifiers that came later are in forms of their own where they must be said. */
  readonly since: Since;
}

/** `.version` as text, and `.target` as the number behind `sm_`. */
export interface Since {
  readonly ptx: string;
  readonly target: number;
}

const FIRST: Since = { ptx: '1.0', target: 10 };

/**
 * @param types regular expression of the types, joined by dots
 * @param modifiers regular expression of each other modifier; empty when there is none
 * @param operands `destinations <- sources`, each a list of operand codes
 * @param required regular expressions, each of which some modifier matches
 */
export function form(
  types: string,
  modifiers: string,
  operands: string,
  ...required: string[]
): InstructionForm {
  const [destinations = '', sources = ''] = operands.split('<-').map((side) => side.trim());
  return {
    types: new RegExp(`^(?:${types})$`),
    allowed: new RegExp(`^(?:${modifiers === '' ? '(?!)' : modifiers})$`),
    required: required.map((each) => new RegExp(`^(?:${each})$`)),
    destinations: destinations === '' ? [] : destinations.split(' '),
    sources: sources === '' ? [] : sources.split(' '),
    since: FIRST,
  };
}

/** Forms that came with a PTX version and a target. */
export function since(ptx: string, target: number, ...forms: readonly InstructionForm[]): InstructionForm[] {
  return forms.map((each) => ({ ...each, since: { ptx, target } }));
}

/** Parts of the rules that several families share. */
export const rounding = 'rn|rz|rm|rp';
export const integralRounding = 'rni|rzi|rmi|rpi';
export const integers = '[us](?:16|32|64)';
export const bitTypes = 'b(?:16|32|64)';
export const comparisons = 'eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan';
export const memoryOrder = 'weak|relaxed|acquire|release|acq_rel|volatile|cta|cluster|gpu|sys';
