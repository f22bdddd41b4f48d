import { z } from 'zod';
import { ADDRESS_MODES, FILTERS, RESOURCE_KINDS, TEXEL_TYPES } from '../executor/index.js';
import { TENSOR_TYPES, type TensorType } from '../ptx/index.js';
import { ELEMENT_TYPES, type ElementType } from './elementTypes.js';
import { misfit } from './valueRanges.js';

type Scalar = number | string;

/** `{"i32": 5}` and the like. */
export type ScalarArgument = { [K in ElementType]: Readonly<Record<K, Scalar>> }[ElementType];

/** A number of one type, exactly; integers may also be strings of decimal digits, as those beyond 2^53 must be. */
function scalar(type: ElementType) {
  return z.custom<Scalar>().superRefine((value, context) => {
    const reason = misfit(type, value);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
  });
}

const count = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

export const name = z.string().regex(/^[A-Za-z_][\w.-]*$/, 'expected a name of letters, digits and _ . -');

const fill = z.strictObject({
  seed: z.int().min(0).max(0xffffffff),
  scale: z.number(),
  shift: z.number(),
});

const forest = {
  depth: z.int().min(1).max(24),
  dim: z.int().min(1),
  classes: z.int().min(1),
};

const generate = z.discriminatedUnion('rule', [
  z.strictObject({
    rule: z.literal('mix.mod'),
    seed: z.int().min(0).max(0xffffffff),
    mod: z.int().min(1).max(0xffffffff),
    plus: z.number().default(0),
  }),
  z.strictObject({ rule: z.literal('forest.feature'), ...forest }),
  z.strictObject({ rule: z.literal('forest.left'), ...forest }),
  z.strictObject({ rule: z.literal('forest.right'), ...forest }),
  z.strictObject({ rule: z.literal('forest.root'), ...forest }),
]);

export const GENERATE_RULES = generate.options.map((option) => option.shape.rule.value);

const contentsSchema = z.strictObject({
  type: z.enum(ELEMENT_TYPES),
  count,
  fill: fill.optional(),
  generate: generate.optional(),
  values: z.array(z.custom<Scalar>()).optional(),
});

/** Elements and where they come from. */
export type ContentsSpec = z.infer<typeof contentsSchema>;

/** At most one source of contents, and values that are right in number and type. */
function checkContents(found: ContentsSpec, context: z.core.$RefinementCtx): void {
  const { type, count: expected, values } = found;
  if ([found.fill, found.generate, values].filter((source) => source !== undefined).length > 1) {
    context.addIssue({ code: 'custom', message: 'give at most one of fill, generate and values' });
  }
  if (values === undefined) return;
  if (values.length !== expected) {
    const message = `holds ${values.length} values, but count is ${expected}; give exactly count values`;
    context.addIssue({ code: 'custom', path: ['values'], message });
    return;
  }
  for (const [index, value] of values.entries()) {
    const message = misfit(type, value);
    if (message === undefined) continue;
    context.addIssue({ code: 'custom', path: ['values', index], message });
    return;
  }
}

/** Contents by themselves. */
export const contents = contentsSchema.superRefine(checkContents);

export const buffer = contentsSchema
  .extend({
    name: name.optional(),
    out: z.boolean().default(false),
    freed: z.boolean().default(false),
  })
  .superRefine(checkContents)
  .refine((found) => !(found.freed && found.out), {
    message: 'a freed buffer has nothing to report; give at most one of freed and out',
    path: ['freed'],
  });

const array = contentsSchema.extend({ out: z.boolean().default(false) }).superRefine(checkContents);

const place = {
  of: z.union([z.int().min(0), name]).optional(),
  symbol: z.string().optional(),
  offsetBytes: z.int().default(0),
};

function checkPlace(
  { of, symbol }: { readonly of?: unknown; readonly symbol?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if ((of === undefined) !== (symbol === undefined)) return;
  const message =
    of === undefined
      ? 'is missing; expected a place in args or the name of a buffer, or symbol in its stead'
      : 'give only one of of and symbol';
  context.addIssue({ code: 'custom', path: ['of'], message });
}

const pointer = z.strictObject(place).superRefine(checkPlace);

/** A tensor in a buffer, its own or another's, and how it is copied; `encodeTensorMap` checks the numbers. */
const tensorMap = z
  .strictObject({
    ...place,
    buffer: buffer.optional(),
    type: z.enum(Object.keys(TENSOR_TYPES) as [TensorType, ...TensorType[]]),
    size: z.array(z.int()),
    strideBytes: z.array(z.int()).default([]),
    box: z.array(z.int()),
    step: z.array(z.int()).optional(),
    swizzleBytes: z.int().optional(),
    fill: z.enum(['zeros', 'nan']).optional(),
  })
  .superRefine((found, context) => {
    if (found.buffer === undefined) checkPlace(found, context);
    else if (found.of !== undefined || found.symbol !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['buffer'],
        message: 'give only one of buffer, of and symbol',
      });
  });

const extent = z.int().min(1);

const resource = z.strictObject({
  kind: z.enum(RESOURCE_KINDS).default('array'),
  type: z.enum(TEXEL_TYPES),
  channels: z.literal([1, 2, 4]).default(1),
  width: extent,
  height: extent.optional(),
  depth: extent.optional(),
  layers: extent.optional(),
  cube: z.boolean().default(false),
  levels: extent.default(1),
  pitchBytes: extent.optional(),
});

const addressMode = z.enum(ADDRESS_MODES);

const sampler = z.strictObject({
  address: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(addressMode).min(1).max(3))
    .default(['clamp']),
  filter: z.enum(FILTERS).default('point'),
  normalizedCoordinates: z.boolean().default(false),
  normalizedFloat: z.boolean().default(false),
  srgb: z.boolean().default(false),
  mipmapFilter: z.enum(FILTERS).default('point'),
  levelBias: z.number().default(0),
  leastLevel: z.number().default(0),
  greatestLevel: z.number().optional(),
  border: z.array(z.number()).max(4).default([]),
});

/** The memory: a buffer that is here, or one that is elsewhere in the spec. */
const memory = { buffer: buffer.optional(), of: z.union([z.int().min(0), name]).optional(), resource };

function checkMemory(found: { buffer?: unknown; of?: unknown }, context: z.core.$RefinementCtx): void {
  if ((found.buffer === undefined) !== (found.of === undefined)) return;
  const message = 'give its memory: one of buffer and of (a place in args or the name of a buffer)';
  context.addIssue({ code: 'custom', path: ['buffer'], message });
}

const texture = z.strictObject({ ...memory, sampler: sampler.prefault({}) }).superRefine(checkMemory);
const surface = z.strictObject(memory).superRefine(checkMemory);

export type TextureSpec = z.infer<typeof texture>;
export type SurfaceSpec = z.infer<typeof surface>;

export type GenerateSpec = z.infer<typeof generate>;
export type BufferSpec = z.infer<typeof buffer>;
/** Elements in place, inside a structure or as a variable's contents. */
export type ArraySpec = z.infer<typeof array>;
export type PointerSpec = z.infer<typeof pointer>;
export type TensorMapSpec = z.infer<typeof tensorMap>;

export interface StructSpec {
  /** Size of the whole; by default the fields' with its end rounded up to the widest alignment, as in C. */
  readonly bytes?: number | undefined;
  readonly fields: readonly StructField[];
}

export type LaunchArgument =
  | ScalarArgument
  | { readonly buffer: BufferSpec }
  | { readonly pointer: PointerSpec }
  | { readonly texture: TextureSpec }
  | { readonly surface: SurfaceSpec }
  | { readonly struct: StructSpec }
  | { readonly tensorMap: TensorMapSpec };

/** What lies in memory itself: an argument's value, or elements. */
export type PlacedValue = LaunchArgument | { readonly array: ArraySpec };

/** Without `offset` a field follows the one before it, at its natural alignment. */
export type StructField = PlacedValue & { readonly offset?: number | undefined };

/** One field in an object besides `shared` ones: what an argument is. */
function variants(extra: readonly string[], shared: z.ZodRawShape): z.ZodType {
  const schemas: Readonly<Record<string, z.ZodType>> = {
    buffer,
    pointer,
    texture,
    surface,
    array,
    tensorMap,
    struct: z.lazy(() => struct),
  };
  const options = [
    ...ELEMENT_TYPES.map((type) => z.strictObject({ [type]: scalar(type), ...shared })),
    ...extra.map((kind) => z.strictObject({ [kind]: schemas[kind] ?? z.never(), ...shared })),
  ];
  return z.union(options);
}

/** In the order of the unions' variants. */
export const ARGUMENT_KINDS: readonly string[] = [
  ...ELEMENT_TYPES,
  'buffer',
  'pointer',
  'texture',
  'surface',
  'struct',
  'tensorMap',
];
export const VALUE_KINDS: readonly string[] = [...ARGUMENT_KINDS, 'array'];

// The variants' names are computed, which is more than the library's types can follow: what they check is written above.
export const argumentSchema = variants(
  ARGUMENT_KINDS.slice(ELEMENT_TYPES.length),
  {},
) as z.ZodType<LaunchArgument>;
export const valueSchema = variants(VALUE_KINDS.slice(ELEMENT_TYPES.length), {}) as z.ZodType<PlacedValue>;
const fieldSchema = variants(VALUE_KINDS.slice(ELEMENT_TYPES.length), {
  offset: z.int().min(0).optional(),
}) as z.ZodType<StructField>;

const struct: z.ZodType<StructSpec> = z.strictObject({
  bytes: z.int().min(1).optional(),
  fields: z.array(fieldSchema).min(1),
});
