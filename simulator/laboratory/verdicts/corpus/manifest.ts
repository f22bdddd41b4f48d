import type { Expression } from './expression.js';

/** Where a kernel comes from: the file of its source. */
export const FAMILIES = [
  'elementwise',
  'normalisation',
  'gemm',
  'tvm',
  'transformer',
  'rodinia',
  'parboil',
  'adversarial',
] as const;
export type Family = (typeof FAMILIES)[number];

/** How a size is drawn. Sizes are drawn in the order in which they are written; expressions name those before. */
export type SizeRule =
  /** A count up to `most`, log-uniform, and often 0, 1, or one around a multiple of `around`. */
  | { readonly rule: 'count'; readonly most: number; readonly around?: Expression }
  /** A whole number, each as likely. */
  | { readonly rule: 'range'; readonly least: Expression; readonly most: Expression }
  | { readonly rule: 'pick'; readonly of: readonly number[] }
  | { readonly rule: 'value'; readonly value: Expression };

export type ElementType = 'f32' | 'f16' | 'i32' | 'u32' | 'u16' | 'u8' | 'i8' | 'pointer';

/** What a buffer holds before the launch. */
export type Fill =
  /** Random values of the type: floats in [-1, 1), integers from -8 to 8 (0 to 16 of unsigned types). */
  | 'random'
  | 'zeros'
  /** Integers from `least` on, below `below`. */
  | { readonly least?: Expression; readonly below: Expression }
  /** Ascending from 0 to `total`: where rows start. */
  | { readonly starts: Expression }
  /** 0 … count - 1 in a random order. */
  | 'permutation'
  /** 1 with this probability, else 0. */
  | { readonly flags: number }
  /** Element i names an element before it, or itself. */
  | 'earlier'
  /** Element i names one of the `width` elements of the row before; those of the first row are -1. */
  | { readonly rowBefore: Expression }
  /** Element i is the address of `stride` elements times i of another parameter's buffer (floats). */
  | { readonly pointersTo: number; readonly stride: Expression };

export interface PointerParameter {
  readonly kind: 'pointer';
  readonly role: 'in' | 'out' | 'inout';
  readonly type: ElementType;
  /** Elements that the kernel may reach. */
  readonly count: Expression;
  readonly fill: Fill;
  /** Bytes to whose multiple its address must be. */
  readonly align: number;
  /** Never given memory of another parameter: its values are indices. */
  readonly isApart: boolean;
  /** The argument names its last element: the kernel goes down from there. */
  readonly startsAtEnd?: boolean;
  /** No argument of the kernel: it comes to the buffer by pointers in memory. */
  readonly isHidden?: boolean;
}

export type ManifestParameter =
  | PointerParameter
  /** As wide as the kernel's parameter. */
  | { readonly kind: 'integer'; readonly value: Expression }
  | { readonly kind: 'float'; readonly values: readonly number[] }
  /** A structure passed by value. */
  | { readonly kind: 'struct'; readonly members: readonly ManifestParameter[] };

/** What is needed to launch a kernel with sizes of any kind. */
export interface KernelManifest {
  readonly entry: string;
  readonly family: Family;
  readonly sizes: Readonly<Record<string, SizeRule>>;
  /** Extents in x, y, z; what is left out is 1, what comes out below 1 is 1. */
  readonly grid: readonly Expression[];
  readonly block: readonly Expression[];
  readonly sharedBytes?: Expression;
  readonly parameters: readonly ManifestParameter[];
  /** Instances a body, as a multiple of what others get; 1 by default. */
  readonly weight?: number;
}

const BYTES: Readonly<Record<ElementType, number>> = {
  f32: 4,
  f16: 2,
  i32: 4,
  u32: 4,
  u16: 2,
  u8: 1,
  i8: 1,
  pointer: 8,
};

export function elementBytes(type: ElementType): number {
  return BYTES[type];
}

type PointerDetails = Partial<Pick<PointerParameter, 'fill' | 'align' | 'isApart'>>;

function pointer(
  role: PointerParameter['role'],
  type: ElementType,
  count: Expression,
  { fill = 'random', align = elementBytes(type), isApart = false }: PointerDetails = {},
): PointerParameter {
  return { kind: 'pointer', role, type, count, fill, align, isApart };
}

/** A buffer that is only read. */
export const reads = (type: ElementType, count: Expression, details?: PointerDetails): PointerParameter =>
  pointer('in', type, count, details);

/** A buffer that is only written. */
export const writes = (type: ElementType, count: Expression, details?: PointerDetails): PointerParameter =>
  pointer('out', type, count, details);

/** A buffer that is read and written. */
export const updates = (type: ElementType, count: Expression, details?: PointerDetails): PointerParameter =>
  pointer('inout', type, count, details);

/** Indices that are read: nothing else may lie in their memory. */
export const indices = (count: Expression, fill: Fill): PointerParameter =>
  pointer('in', 'i32', count, { fill, isApart: true });

export const integer = (value: Expression): ManifestParameter => ({ kind: 'integer', value });
export const float = (...values: readonly number[]): ManifestParameter => ({ kind: 'float', values });
export const struct = (...members: readonly ManifestParameter[]): ManifestParameter => ({
  kind: 'struct',
  members,
});

export const count = (most: number, around: Expression = 'b'): SizeRule => ({ rule: 'count', most, around });
export const range = (least: Expression, most: Expression): SizeRule => ({ rule: 'range', least, most });
export const pick = (...of: readonly number[]): SizeRule => ({ rule: 'pick', of });
export const value = (expression: Expression): SizeRule => ({ rule: 'value', value: expression });

/** Threads of a block in one dimension, and a block more than is needed now and then. */
export const BLOCK: Readonly<Record<string, SizeRule>> = {
  b: pick(32, 64, 128, 256),
  extra: pick(0, 0, 0, 0, 1),
};
/** Blocks of `b` threads that cover a count. */
export const covering = (expression: Expression): Pick<KernelManifest, 'grid' | 'block'> => ({
  grid: [`${expression}/b+extra`],
  block: ['b'],
});
