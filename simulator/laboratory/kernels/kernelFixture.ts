import type { Sampler, TextureResource } from '../../executor/index.js';

/** Host arrays by element type; half and bfloat16 values are the bits in a Uint16Array. */
export type HostArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

export type Buffers = Readonly<Record<string, HostArray>>;

/** One kernel argument. A structure is laid out as C does: each member at a multiple of its own alignment. */
export type FixtureArgument<Name extends string = string> =
  | { readonly buffer: Name }
  /** Handle of a texture or surface object. */
  | { readonly object: string }
  | { readonly i32: number }
  | { readonly u32: number }
  | { readonly u64: bigint }
  /** Bits of a half or bfloat16. */
  | { readonly half: number }
  | { readonly f32: number }
  | { readonly f64: number }
  | { readonly bytes: readonly number[] }
  | { readonly struct: readonly FixtureArgument<Name>[] }
  /** A structure at a multiple of 16, such as float4. */
  | { readonly align16: readonly FixtureArgument<Name>[] };

/** Extents in x, y, z; what is left out is 1. */
export type Extent = number | readonly [number, number] | readonly [number, number, number];

export interface FixtureLaunch<Name extends string = string> {
  readonly kernel: string;
  readonly grid: Extent;
  readonly block: Extent;
  readonly dynamicSharedBytes?: number;
  readonly cooperative?: boolean;
  /** Blocks of a cluster, where the kernel does not say so itself. */
  readonly cluster?: Extent;
  readonly args: readonly FixtureArgument<Name>[];
}

/** How far a result may lie from the reference: |a - b| ≤ absolute + relative · |b|. */
export interface Bound {
  readonly relative?: number;
  readonly absolute?: number;
  /** Float sums by atomics: a card adds in an order of its own, so that its bits are not to be had either. */
  readonly anyOrder?: true;
}

/**
 * `exact` compares bits with the reference. A bound is for functions that the hardware approximates, which TypeScript cannot
 * say to the bit (a card can), and for sums in any order.
 */
export type OutputRule = 'exact' | Bound;

/** A CUDA program of one or more launches, with its inputs and what plain TypeScript says of its results. */
export interface KernelFixture {
  readonly name: string;
  /** The PTX that nvcc made of the `.cu` file beside it. */
  readonly ptx: URL;
  /** Fresh input and output arrays, the same at every call. */
  readonly buffers: () => Buffers;
  readonly objects?: Readonly<Record<string, FixtureObject>>;
  readonly launches: readonly FixtureLaunch[];
  /** Does to the arrays what the launches do to device memory. */
  readonly reference: (buffers: Buffers) => void;
  readonly outputs: Readonly<Record<string, OutputRule>>;
  /** Brings results that may be in any order (hash tables, compaction by atomics) into one; done to both sides. */
  readonly settle?: (buffers: Buffers) => void;
  /** What `printf` writes. */
  readonly printed?: string;
  /** No card has run it yet: it is held to its reference alone. */
  readonly isUnasked?: true;
}

/** A texture object on a buffer, or a surface object where no sampler is given. */
export interface FixtureObject<Name extends string = string> {
  readonly buffer: Name;
  readonly resource: Omit<TextureResource, 'address'>;
  readonly sampler?: Sampler;
}

interface FixtureText<B extends Buffers> {
  readonly ptx: URL;
  readonly buffers: () => B;
  readonly objects?: Readonly<Record<string, FixtureObject<Extract<keyof B, string>>>>;
  readonly launches: readonly FixtureLaunch<Extract<keyof B, string>>[];
  readonly reference: (buffers: B) => void;
  readonly outputs: Readonly<Partial<Record<keyof B, OutputRule>>>;
  readonly settle?: (buffers: B) => void;
  readonly printed?: string;
  readonly isUnasked?: true;
}

/** Names a fixture after its PTX file and ties argument, output and buffer names together. */
export function kernelFixture<B extends Buffers>(text: FixtureText<B>): KernelFixture {
  const name = /([^/]+)\.ptx$/.exec(text.ptx.pathname)?.[1] ?? text.ptx.pathname;
  // The arrays that come back are those that `buffers` made, so the narrower functions see what they expect.
  return { name, ...text } as unknown as KernelFixture;
}
