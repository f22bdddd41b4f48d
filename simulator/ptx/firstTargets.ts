import { isa } from './isa/index.js';
import { isScalarType } from './scalarTypes.js';

/**
 * What texts for the first targets mean, in words of later ones. Cards of sm_1x flushed subnormal f32 numbers to zero in
 * arithmetic whether or not a text says `.ftz`, and before PTX 1.4 what was approximate, or rounded, did not say so. The
 * assembler still gives both their old meaning.
 */
export interface FirstTargets {
  /** Numbers and results of f32 that are subnormal count as zero. */
  readonly flushes: boolean;
  /** Approximation and rounding stand for themselves where nothing is written. */
  readonly hasDefaults: boolean;
  /** `.param` in the body of an entry is a parameter of the entry, whose head has none. */
  readonly parametersInside: boolean;
}

/** @returns undefined for a text whose spellings mean what they say */
export function firstTargets(ptxVersion: string, architecture: number): FirstTargets | undefined {
  const [major = 0, minor = 0] = ptxVersion.split('.').map(Number);
  const flushes = architecture >= 10 && architecture < 20;
  const isEarly = major === 1 && minor < 4;
  return flushes || isEarly ? { flushes, hasDefaults: isEarly, parametersInside: isEarly } : undefined;
}

const accuracy = /^(?:approx|full|rn|rz|rm|rp)$/;

/** How an instruction is spelled today. @param spelled opcode and modifiers, joined by their dots */
export function laterSpelling(spelled: string, { flushes, hasDefaults }: FirstTargets): string {
  const [opcode = '', ...modifiers] = spelled.split('.');
  const types = modifiers.filter(isScalarType);
  const { single, double, isFlushing } = isa(opcode).syntax.early;
  const unsaid = types[0] === 'f64' ? double : types[0] === 'f32' ? single : undefined;
  if (hasDefaults && unsaid !== undefined && !modifiers.some((each) => accuracy.test(each)))
    modifiers.unshift(unsaid);
  const isFlushed =
    flushes && isFlushing && types.at(-1) === 'f32' && !types.includes('f64') && !modifiers.includes('ftz');
  if (isFlushed) {
    const sat = modifiers.indexOf('sat');
    modifiers.splice(sat >= 0 ? sat : modifiers.findIndex(isScalarType), 0, 'ftz');
  }
  return [opcode, ...modifiers].join('.');
}
