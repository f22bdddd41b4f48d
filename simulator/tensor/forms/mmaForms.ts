import type { ElementType } from './elementTypes.js';
import {
  fragmentA,
  fragmentB,
  fragmentC,
  quadFragmentA,
  quadFragmentB,
  quadFragmentC,
  type Shape,
} from './fragments.js';
import type { Operand } from './operand.js';
import type { NamedForm, Rounding, Sparsity } from './tileForm.js';

export function shape(text: string): Shape {
  const [, m = '', n = '', k = ''] = /^m(\d+)n(\d+)k(\d+)$/.exec(text) ?? [];
  return { m: Number(m), n: Number(n), k: Number(k) };
}

interface Multiplicands {
  readonly shapes: readonly string[];
  readonly a: readonly ElementType[];
  readonly b: readonly ElementType[];
  /** D and C. */
  readonly accumulators: readonly (readonly [ElementType, ElementType])[];
}

const halfAccumulators = [
  ['f16', 'f16'],
  ['f32', 'f32'],
] as const;
const quadAccumulators = [...halfAccumulators, ['f32', 'f16']] as const;
const single = [['f32', 'f32']] as const;
const integer = [['s32', 's32']] as const;

const bytes: readonly ElementType[] = ['s8', 'u8'];
const nibbles: readonly ElementType[] = ['s4', 'u4'];
const eighths: readonly ElementType[] = ['e4m3', 'e5m2'];

/** Shapes and types of the dense product (9.7.14.5.14) that sm_90 has. */
const dense: readonly Multiplicands[] = [
  { shapes: ['m16n8k8', 'm16n8k16'], a: ['f16'], b: ['f16'], accumulators: halfAccumulators },
  { shapes: ['m16n8k8', 'm16n8k16'], a: ['bf16'], b: ['bf16'], accumulators: single },
  { shapes: ['m16n8k4', 'm16n8k8'], a: ['tf32'], b: ['tf32'], accumulators: single },
  { shapes: ['m16n8k16', 'm16n8k32'], a: eighths, b: eighths, accumulators: halfAccumulators },
];

const denseIntegers: readonly Multiplicands[] = [
  { shapes: ['m8n8k16', 'm16n8k16', 'm16n8k32'], a: bytes, b: bytes, accumulators: integer },
  { shapes: ['m8n8k32', 'm16n8k32', 'm16n8k64'], a: nibbles, b: nibbles, accumulators: integer },
];

function each(
  groups: readonly Multiplicands[],
  make: (shapeText: string, a: ElementType, b: ElementType, d: ElementType, c: ElementType) => NamedForm[],
): NamedForm[] {
  return groups.flatMap(({ shapes, a, b, accumulators }) =>
    shapes.flatMap((text) =>
      a.flatMap((aType) =>
        b.flatMap((bType) => accumulators.flatMap(([d, c]) => make(text, aType, bType, d, c))),
      ),
    ),
  );
}

interface Fragments {
  readonly shape: Shape;
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Operand;
  readonly d: Operand;
}

function fragments(
  text: string,
  a: ElementType,
  b: ElementType,
  d: ElementType,
  c: ElementType,
  kept = 1,
): Fragments {
  const extents = shape(text);
  const { m, n, k } = extents;
  return {
    shape: extents,
    a: fragmentA(a, m, k * kept),
    b: fragmentB(b, n, k),
    c: fragmentC(c, m, n),
    d: fragmentC(d, m, n),
  };
}

function quadForms(): NamedForm[] {
  return (['row', 'col'] as const).flatMap((aLayout) =>
    (['row', 'col'] as const).flatMap((bLayout) =>
      quadAccumulators.map(([d, c]): NamedForm => [
        `mma.sync.aligned.m8n8k4.${aLayout}.${bLayout}.${d}.f16.f16.${c}`,
        () => ({
          kind: 'mma',
          shape: shape('m8n8k4'),
          a: quadFragmentA(aLayout),
          b: quadFragmentB(bLayout),
          c: quadFragmentC(c),
          d: quadFragmentC(d),
          satfinite: false,
        }),
      ]),
    ),
  );
}

function denseForms(): NamedForm[] {
  return each(dense, (text, a, b, d, c) => [
    [
      `mma.sync.aligned.${text}.row.col.${d}.${a}.${b}.${c}`,
      () => ({ kind: 'mma', ...fragments(text, a, b, d, c), satfinite: false }),
    ],
  ]);
}

function integerForms(): NamedForm[] {
  return each(denseIntegers, (text, a, b, d, c) =>
    [false, true].map((satfinite) => [
      `mma.sync.aligned.${text}.row.col${satfinite ? '.satfinite' : ''}.${d}.${a}.${b}.${c}`,
      () => ({ kind: 'mma', ...fragments(text, a, b, d, c), satfinite }),
    ]),
  );
}

function doubleForms(): NamedForm[] {
  const roundings: readonly (Rounding | undefined)[] = [undefined, 'rn', 'rz', 'rm', 'rp'];
  return ['m8n8k4', 'm16n8k4', 'm16n8k8', 'm16n8k16'].flatMap((text) =>
    roundings.map((rounding): NamedForm => [
      `mma.sync.aligned.${text}.row.col${rounding === undefined ? '' : `.${rounding}`}.f64.f64.f64.f64`,
      () => ({
        kind: 'mma',
        ...fragments(text, 'f64', 'f64', 'f64', 'f64'),
        satfinite: false,
        rounding: rounding ?? 'rn',
      }),
    ]),
  );
}

function bitForms(): NamedForm[] {
  return ['m8n8k128', 'm16n8k128', 'm16n8k256'].flatMap((text) =>
    (['xor', 'and'] as const).map((bitOperation): NamedForm => [
      `mma.sync.aligned.${text}.row.col.s32.b1.b1.s32.${bitOperation}.popc`,
      () => ({
        kind: 'mma',
        ...fragments(text, 'b1', 'b1', 's32', 's32'),
        satfinite: false,
        bitOperation,
      }),
    ]),
  );
}

/** Shapes of the sparse product and how many selectors each has (9.7.14.6.1): as many as quarters of lanes that can speak. */
const sparse: readonly (Multiplicands & {
  readonly selectors: number;
  readonly indices: Sparsity['indices'];
  readonly isInteger?: true;
})[] = [
  {
    shapes: ['m16n8k16'],
    a: ['f16'],
    b: ['f16'],
    accumulators: halfAccumulators,
    selectors: 4,
    indices: 'twoOfFour',
  },
  {
    shapes: ['m16n8k32'],
    a: ['f16'],
    b: ['f16'],
    accumulators: halfAccumulators,
    selectors: 2,
    indices: 'twoOfFour',
  },
  {
    shapes: ['m16n8k16'],
    a: ['bf16'],
    b: ['bf16'],
    accumulators: single,
    selectors: 4,
    indices: 'twoOfFour',
  },
  {
    shapes: ['m16n8k32'],
    a: ['bf16'],
    b: ['bf16'],
    accumulators: single,
    selectors: 2,
    indices: 'twoOfFour',
  },
  {
    shapes: ['m16n8k8'],
    a: ['tf32'],
    b: ['tf32'],
    accumulators: single,
    selectors: 4,
    indices: 'oneOfTwo',
  },
  {
    shapes: ['m16n8k16'],
    a: ['tf32'],
    b: ['tf32'],
    accumulators: single,
    selectors: 2,
    indices: 'oneOfTwo',
  },
  {
    shapes: ['m16n8k64'],
    a: eighths,
    b: eighths,
    accumulators: single,
    selectors: 1,
    indices: 'twoOfFour',
  },
  {
    shapes: ['m16n8k32'],
    a: bytes,
    b: bytes,
    accumulators: integer,
    selectors: 2,
    indices: 'twoOfFour',
    isInteger: true,
  },
  {
    shapes: ['m16n8k64'],
    a: bytes,
    b: bytes,
    accumulators: integer,
    selectors: 1,
    indices: 'twoOfFour',
    isInteger: true,
  },
  {
    shapes: ['m16n8k64'],
    a: nibbles,
    b: nibbles,
    accumulators: integer,
    selectors: 2,
    indices: 'twoOfFour',
    isInteger: true,
  },
  {
    shapes: ['m16n8k128'],
    a: nibbles,
    b: nibbles,
    accumulators: integer,
    selectors: 1,
    indices: 'twoOfFour',
    isInteger: true,
  },
];

function sparseForms(): NamedForm[] {
  return sparse.flatMap((group) =>
    each([group], (text, a, b, d, c) =>
      ['.sp', '.sp::ordered_metadata'].flatMap((modifier) =>
        (group.isInteger === true ? [false, true] : [false]).flatMap((satfinite) =>
          Array.from({ length: group.selectors }, (_, selector): NamedForm => [
            `mma${modifier}.sync.aligned.${text}.row.col${satfinite ? '.satfinite' : ''}.${d}.${a}.${b}.${c} ${selector}`,
            () => ({
              kind: 'sparse',
              ...fragments(text, a, b, d, c, 0.5),
              satfinite,
              sparse: { selector, indices: group.indices },
            }),
          ]),
        ),
      ),
    ),
  );
}

/** Every form of `mma` that sm_90 has. */
export function mmaForms(): NamedForm[] {
  return [
    ...quadForms(),
    ...denseForms(),
    ...integerForms(),
    ...doubleForms(),
    ...bitForms(),
    ...sparseForms(),
  ];
}
