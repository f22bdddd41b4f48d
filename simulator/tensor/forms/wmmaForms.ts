import type { ElementType } from './elementTypes.js';
import { shape } from './mmaForms.js';
import type { Operand } from './operand.js';
import type { NamedForm, Rounding } from './tileForm.js';
import { wmmaFragment } from './wmmaFragments.js';

const layouts = ['row', 'col'] as const;
const wide = ['m16n16k16', 'm32n8k16', 'm8n32k16'];

/** Registers of fragments (9.7.14.4.1): how many of A, B, and of C or D, by shape and type. */
export interface WmmaRegisters {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

export function wmmaRegisters(
  text: string,
  type: ElementType,
  accumulator: ElementType = 'f32',
): WmmaRegisters {
  const { m, n, k } = shape(text);
  if (type === 'f16') return { a: 8, b: 8, c: accumulator === 'f16' ? 4 : 8 };
  if (type === 'f64') return { a: 1, b: 1, c: 2 };
  const elements = { bf16: 2, tf32: 1, s8: 4, u8: 4, s4: 8, u4: 8, b1: 32 } as const;
  const each = elements[type as keyof typeof elements];
  return { a: (m * k) / (32 * each), b: (k * n) / (32 * each), c: (m * n) / 32 };
}

interface Product {
  readonly text: string;
  readonly type: ElementType;
  readonly d: ElementType;
  readonly c: ElementType;
  readonly rounding?: Rounding;
  readonly bitOperation?: 'and' | 'xor';
  readonly satfinite?: boolean;
}

function product(name: string, { text, type, d, c, satfinite = false, ...rest }: Product): NamedForm {
  return [
    name,
    () => {
      const extents = shape(text);
      const counts = wmmaRegisters(text, type);
      const accumulator = (of: ElementType) => wmmaRegisters(text, type, of).c;
      return {
        kind: 'wmma',
        shape: extents,
        a: wmmaFragment({ ...extents, fragment: 'a', type, registers: counts.a }),
        b: wmmaFragment({ ...extents, fragment: 'b', type, registers: counts.b }),
        c: wmmaFragment({ ...extents, fragment: 'c', type: c, registers: accumulator(c) }),
        d: wmmaFragment({ ...extents, fragment: 'd', type: d, registers: accumulator(d) }),
        satfinite,
        ...rest,
      };
    },
  ];
}

function allLayouts(make: (layouts: string) => NamedForm[]): NamedForm[] {
  return layouts.flatMap((a) => layouts.flatMap((b) => make(`${a}.${b}`)));
}

/** Every form of `wmma.mma` that sm_90 has; the order of matrices in memory says nothing of their fragments. */
export function wmmaForms(): NamedForm[] {
  const halves = ['f16', 'f32'] as const;
  const roundings: readonly (Rounding | undefined)[] = [undefined, 'rn', 'rz', 'rm', 'rp'];
  const saturations = [false, true];
  const suffix = (satfinite: boolean): string => (satfinite ? '.satfinite' : '');
  return [
    ...wide.flatMap((text) =>
      allLayouts((orders) =>
        halves.flatMap((d) =>
          halves.map((c) =>
            product(`wmma.mma.sync.aligned.${orders}.${text}.${d}.${c}`, { text, type: 'f16', d, c }),
          ),
        ),
      ),
    ),
    ...[...wide.map((text) => ['bf16', text] as const), ['tf32', 'm16n16k8'] as const].flatMap(
      ([type, text]) =>
        allLayouts((orders) => [
          product(`wmma.mma.sync.aligned.${orders}.${text}.f32.${type}.${type}.f32`, {
            text,
            type,
            d: 'f32',
            c: 'f32',
          }),
        ]),
    ),
    ...allLayouts((orders) =>
      roundings.map((rounding) =>
        product(
          `wmma.mma.sync.aligned.${orders}.m8n8k4${rounding === undefined ? '' : `.${rounding}`}.f64.f64.f64.f64`,
          { text: 'm8n8k4', type: 'f64', d: 'f64', c: 'f64', rounding: rounding ?? 'rn' },
        ),
      ),
    ),
    ...wide.flatMap((text) =>
      (['s8', 'u8'] as const).flatMap((type) =>
        allLayouts((orders) =>
          saturations.map((satfinite) =>
            product(`wmma.mma.sync.aligned.${orders}.${text}.s32.${type}.${type}.s32${suffix(satfinite)}`, {
              text,
              type,
              d: 's32',
              c: 's32',
              satfinite,
            }),
          ),
        ),
      ),
    ),
    ...(['s4', 'u4'] as const).flatMap((type) =>
      saturations.map((satfinite) =>
        product(`wmma.mma.sync.aligned.row.col.m8n8k32.s32.${type}.${type}.s32${suffix(satfinite)}`, {
          text: 'm8n8k32',
          type,
          d: 's32',
          c: 's32',
          satfinite,
        }),
      ),
    ),
    ...(['xor', 'and'] as const).map((bitOperation) =>
      product(`wmma.mma.${bitOperation}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32`, {
        text: 'm8n8k128',
        type: 'b1',
        d: 's32',
        c: 's32',
        bitOperation,
      }),
    ),
  ];
}

/** A shape's matrices that loads and stores carry: of A and B, and of C and D. */
export type Carried = readonly [
  shape: string,
  inputs: readonly ElementType[],
  accumulators: readonly ElementType[],
];

export const wmmaCarried: readonly Carried[] = [
  ...wide.map((text): Carried => [text, ['f16', 'bf16', 's8', 'u8'], ['f16', 'f32', 's32']]),
  ['m16n16k8', ['tf32'], ['f32']],
  ['m8n8k4', ['f64'], ['f64']],
  ['m8n8k32', ['s4', 'u4'], ['s32']],
  ['m8n8k128', ['b1'], ['s32']],
];

/** The fragment of a matrix that `wmma.load` or `wmma.store` carries; undefined where sm_90 has none. */
export function wmmaMatrix(text: string, fragment: string, type: string): Operand | undefined {
  const [, inputs, accumulators] = wmmaCarried.find(([each]) => each === text) ?? [];
  const isInput = fragment === 'a' || fragment === 'b';
  if (!isInput && fragment !== 'c' && fragment !== 'd') return undefined;
  const found = (isInput ? inputs : accumulators)?.find((each) => each === type);
  if (found === undefined) return undefined;
  const counts = wmmaRegisters(text, isInput ? found : (inputs?.[0] ?? found), found);
  const registers = isInput ? counts[fragment] : counts.c;
  return wmmaFragment({ ...shape(text), fragment, type: found, registers });
}
