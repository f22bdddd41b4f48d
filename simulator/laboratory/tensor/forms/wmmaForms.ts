import type { ElementType } from './elementTypes.js';
import type { Layout } from './fragments.js';
import { shape } from './mmaForms.js';
import { inMemory } from './operand.js';
import type { Rounding, TileForm } from './tileForm.js';

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
  readonly layoutA: Layout;
  readonly layoutB: Layout;
}

function product(name: string, { text, type, d, c, layoutA, layoutB }: Product): TileForm {
  const extents = shape(text);
  const { m, n, k } = extents;
  return {
    name,
    kind: 'wmma',
    shape: extents,
    a: inMemory({ type, rows: m, columns: k }, layoutA),
    b: inMemory({ type, rows: k, columns: n }, layoutB),
    c: inMemory({ type: c, rows: m, columns: n }, 'row'),
    d: inMemory({ type: d, rows: m, columns: n }, 'row'),
    satfinite: name.endsWith('.satfinite'),
  };
}

function allLayouts(make: (layoutA: Layout, layoutB: Layout) => TileForm[]): TileForm[] {
  return layouts.flatMap((layoutA) => layouts.flatMap((layoutB) => make(layoutA, layoutB)));
}

function forms(): TileForm[] {
  const halves = ['f16', 'f32'] as const;
  const saturations = ['', '.satfinite'];
  const roundings: readonly (Rounding | undefined)[] = [undefined, 'rn', 'rz', 'rm', 'rp'];
  return [
    ...wide.flatMap((text) =>
      allLayouts((layoutA, layoutB) =>
        halves.flatMap((d) =>
          halves.flatMap((c) =>
            saturations.map((saturation) =>
              product(`wmma.mma.sync.aligned.${layoutA}.${layoutB}.${text}.${d}.${c}${saturation}`, {
                text,
                type: 'f16',
                d,
                c,
                layoutA,
                layoutB,
              }),
            ),
          ),
        ),
      ),
    ),
    ...[...wide.map((text) => ['bf16', text] as const), ['tf32', 'm16n16k8'] as const].flatMap(
      ([type, text]) =>
        allLayouts((layoutA, layoutB) => [
          product(`wmma.mma.sync.aligned.${layoutA}.${layoutB}.${text}.f32.${type}.${type}.f32`, {
            text,
            type,
            d: 'f32',
            c: 'f32',
            layoutA,
            layoutB,
          }),
        ]),
    ),
    ...allLayouts((layoutA, layoutB) =>
      roundings.map((rounding) => ({
        ...product(
          `wmma.mma.sync.aligned.${layoutA}.${layoutB}.m8n8k4${rounding === undefined ? '' : `.${rounding}`}.f64.f64.f64.f64`,
          { text: 'm8n8k4', type: 'f64', d: 'f64', c: 'f64', layoutA, layoutB },
        ),
        rounding: rounding ?? 'rn',
      })),
    ),
    ...wide.flatMap((text) =>
      (['s8', 'u8'] as const).flatMap((type) =>
        allLayouts((layoutA, layoutB) =>
          saturations.map((saturation) =>
            product(
              `wmma.mma.sync.aligned.${layoutA}.${layoutB}.${text}.s32.${type}.${type}.s32${saturation}`,
              { text, type, d: 's32', c: 's32', layoutA, layoutB },
            ),
          ),
        ),
      ),
    ),
    ...(['s4', 'u4'] as const).flatMap((type) =>
      saturations.map((saturation) =>
        product(`wmma.mma.sync.aligned.row.col.m8n8k32.s32.${type}.${type}.s32${saturation}`, {
          text: 'm8n8k32',
          type,
          d: 's32',
          c: 's32',
          layoutA: 'row',
          layoutB: 'col',
        }),
      ),
    ),
    ...(['xor', 'and'] as const).map((bitOperation) => ({
      ...product(`wmma.mma.${bitOperation}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32`, {
        text: 'm8n8k128',
        type: 'b1',
        d: 's32',
        c: 's32',
        layoutA: 'row',
        layoutB: 'col',
      }),
      bitOperation,
    })),
  ];
}

/** Every form of `wmma.mma`; loads and stores are `moveForms.ts`. */
export const attemptedWmmaForms: readonly TileForm[] = forms();
