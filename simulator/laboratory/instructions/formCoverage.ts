import type { InstructionForm, IrInstruction, ScalarType } from '../../ptx/index.js';
import { isScalarType, parseModule } from '../../ptx/index.js';
import { allForms } from './forms/index.js';
import { bodyOf, probeModule } from './probe.js';

/** Modifiers that choose a place, a cache or an order among threads, not a value. */
const withoutValue =
  /^(?:weak|relaxed|acquire|release|acq_rel|volatile|mmio|unified|nc|cta|cluster|gpu|sys|local|param.*|const|global|shared.*|ca|cg|cs|lu|cv|wb|wt|L[12].*|v[248])$/;

const scalarTypes =
  'pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 u16x2 s16x2 e4m3x2 e5m2x2 tf32 f32 f64'.split(
    ' ',
  ) as ScalarType[];

let probed: ReadonlyMap<string, readonly IrInstruction[]> | undefined;

/** Instructions of all vectors, by opcode. */
function instructionsOf(opcode: string): readonly IrInstruction[] {
  probed ??= grouped(
    parseModule(probeModule(allForms), 'probes').functions.flatMap((fn) => fn.instructions),
    (instruction) => instruction.opcode,
  );
  return probed.get(opcode) ?? [];
}

function others(instruction: Spelling): string[] {
  return instruction.modifiers.filter((modifier) => !isScalarType(modifier));
}

function matches(form: InstructionForm, instruction: Spelling): boolean {
  const modifiers = others(instruction);
  return (
    form.types.test(instruction.types.join('.')) &&
    modifiers.every((modifier) => form.allowed.test(modifier)) &&
    form.required.every((required) => modifiers.some((modifier) => required.test(modifier)))
  );
}

/** The alternatives of a regular expression that `form` has made. */
export function alternatives({ source }: RegExp): string[] {
  return source
    .replace(/^\^\(\?:|\)\$$/g, '')
    .split('|')
    .filter((each) => each !== '' && each !== '(?!)');
}

/** Single words among the alternatives of a form's modifiers, as far as they choose a value. */
function modifiersOf(form: InstructionForm): string[] {
  return alternatives(form.allowed).filter((word) => /^\w+$/.test(word) && !withoutValue.test(word));
}

/** Every list of types that a form takes, joined by dots. */
export function typeListsOf(form: InstructionForm): string[] {
  const one = scalarTypes.map((type): string => type);
  const two = one.flatMap((first) => one.map((second) => `${first}.${second}`));
  const three = two.flatMap((first) => one.map((second) => `${first}.${second}`));
  return ['', ...one, ...two, ...three].filter((types) => form.types.test(types));
}

type Spelling = Pick<IrInstruction, 'opcode' | 'modifiers' | 'types'>;

let spelled: readonly (readonly Spelling[])[] | undefined;

/** What each vector is about, without the instructions that bring its operands and take its results. */
function spellings(): readonly (readonly Spelling[])[] {
  spelled ??= allForms.map((form) =>
    bodyOf(form).map((line) => {
      const [opcode = '', ...modifiers] = (/[a-z]\S*/.exec(line.replace(/^@\S+/, ''))?.[0] ?? '').split('.');
      return { opcode, modifiers, types: modifiers.filter(isScalarType) };
    }),
  );
  return spelled;
}

/** How many vectors a form has. */
export function countVectors(opcode: string, form: InstructionForm): number {
  return spellings().filter((body) => body.some((each) => each.opcode === opcode && matches(form, each)))
    .length;
}

/** Types and modifiers of a form that no vector has, a text each. */
export function missingOf(opcode: string, form: InstructionForm, name: string): string[] {
  const covering = instructionsOf(opcode).filter((instruction) => matches(form, instruction));
  const typeLists = typeListsOf(form);
  const types = typeLists.filter((list) => !covering.some((each) => each.types.join('.') === list));
  const modifiers = modifiersOf(form).filter(
    (modifier) => !covering.some((each) => others(each).includes(modifier)),
  );
  const of = typeLists.length < 3 ? ` of ${typeLists.join(', ')}` : '';
  return [
    ...types.map((list) => `${name} of ${list}`),
    ...modifiers.map((modifier) => `${name}${of} with .${modifier}`),
  ];
}

/** Things by a key of theirs, in order. */
export function grouped<T>(all: readonly T[], keyOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}
