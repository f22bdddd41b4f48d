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

/** What brings the functions of a library into a module, by their names; `undefined` for any other name. */
const libraries: readonly (readonly [RegExp, string])[] = [
  [
    /^__nv_/,
    'it is of libdevice: link libdevice.10.bc when you compile (clang -Xclang -mlink-builtin-bitcode, or llvm-link)',
  ],
  [
    /^_Z\d+(?:get_(?:global|local|group|work|num|enqueued)_\w+|barrier|work_group_barrier|atomic_\w+|native_\w+|convert_\w+)/,
    'it is built into OpenCL C: link libclc when you compile (clang -Xclang -mlink-builtin-bitcode nvptx64--nvidiacl.bc)',
  ],
  [/^(?:omp_|GOMP_|gomp_|__kmpc_)/, 'it is of an OpenMP runtime: link its device library'],
];

/** Why a function that a module calls and does not have cannot be called, and what to do. */
export function undefinedFunction(name: string): string {
  const how = libraries.find(([pattern]) => pattern.test(name))?.[1];
  return `${name} is not defined in this module; ${how ?? 'link it in, or leave out what calls it'}`;
}
