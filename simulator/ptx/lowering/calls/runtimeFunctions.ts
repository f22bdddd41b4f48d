import type { ScalarType } from '../../ir.js';

/** A function of CUDA's device runtime that becomes an instruction. */
export interface RuntimeFunction {
  readonly opcode: string;
  readonly parameters: readonly ScalarType[];
  readonly result: ScalarType | undefined;
  /** What follows it, when control does not come back. */
  readonly then?: string;
}

const runtimeFunctions: Readonly<Record<string, RuntimeFunction>> = {
  /** Takes the format and the address of the arguments; returns their number. */
  vprintf: { opcode: 'vprintf', parameters: ['b64', 'b64'], result: 'b32' },
  malloc: { opcode: 'malloc', parameters: ['b64'], result: 'b64' },
  free: { opcode: 'free', parameters: ['b64'], result: undefined },
  /** Message, file, line, function, bytes of a character. */
  __assertfail: {
    opcode: 'assertfail',
    parameters: ['b64', 'b64', 'b32', 'b64', 'b64'],
    result: undefined,
    then: 'trap.assertion',
  },
};

export function runtimeFunction(name: string): RuntimeFunction | undefined {
  return Object.hasOwn(runtimeFunctions, name) ? runtimeFunctions[name] : undefined;
}

export function isRuntimeFunction(name: string): boolean {
  return runtimeFunction(name) !== undefined;
}
