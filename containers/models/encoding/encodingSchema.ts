import { z } from 'zod';

/*
 * How a text, or a row of columns of which some hold texts, becomes the numbers that kernels take. It lies in a file of its own
 * beside the manifest, since vocabularies are long.
 */

/** A value of a column; null: it is missing. */
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type Scalar = z.infer<typeof scalar>;

/** A column that is a number: one number. */
const numberPart = z.strictObject({
  kind: z.literal('number'),
  column: z.int().min(0),
  /** null is taken, and becomes NaN. */
  missing: z.literal(true).optional(),
});

/** A column that is one of some categories: the place of its category. */
const categoryPart = z.strictObject({
  kind: z.literal('category'),
  column: z.int().min(0),
  categories: z.array(scalar).min(1),
  /** What becomes of a category that is none of these: the input is refused, or it is -1. */
  unknown: z.enum(['refuse', 'code']),
  /** The place of the category that stands for a value that is missing. */
  missing: z.int().min(0).optional(),
});

/** A column that is a text: pairs of a term's place and its value, `most` of them, with -1 as the place of those that are none. */
const termsPart = z.strictObject({
  kind: z.literal('terms'),
  column: z.int().min(0),
  /** Different known terms that a text may have. */
  most: z
    .int()
    .min(1)
    .max(2 ** 16),
  /** UTF-16 units that a text may have. */
  longest: z
    .int()
    .min(1)
    .max(2 ** 20),
  /** Runs of word characters; or all characters, across words or within them (scikit-learn's char and char_wb). */
  analyzer: z.enum(['word', 'char', 'charInWords']),
  lowercase: z.boolean(),
  /** Signs above and below letters: kept, left out, or left out with all that is not ASCII. */
  accents: z.enum(['keep', 'strip', 'ascii']),
  /** Characters that a word has at least. */
  shortest: z.int().min(1).max(100),
  /** How many words or characters one behind the other are a term. */
  grams: z.tuple([z.int().min(1).max(20), z.int().min(1).max(20)]),
  stopWords: z.array(z.string()),
  space: z.union([
    /** Terms in the order of their places. */
    z.strictObject({ vocabulary: z.array(z.string()).min(1) }),
    /** Places by hash. */
    z.strictObject({
      hashed: z
        .int()
        .min(1)
        .max(2 ** 31 - 1),
      /** Half of the terms count below 0, so that collisions even out. */
      alternates: z.boolean(),
      /** The hashes that have places of their own, in order; all others share `rest`, or have none (-1). Absent: each has its own. */
      chosen: z.strictObject({ hashes: z.array(z.int().min(0)), rest: z.int().min(-1) }).optional(),
    }),
  ]),
  /** A term counts once. */
  binary: z.boolean(),
  /** Counts n become 1 + log(n). */
  sublinear: z.boolean(),
  /** Factors of places (inverse document frequencies). */
  weights: z.array(z.number()).optional(),
  norm: z.enum(['none', 'l1', 'l2']),
});

const part = z.discriminatedUnion('kind', [numberPart, categoryPart, termsPart]);

export const encodingSchema = z.strictObject({
  encodingVersion: z.literal(1),
  /** What the kernels take, one part behind the other. */
  parts: z.array(part).min(1).max(4096),
});

export type InputEncoding = z.infer<typeof encodingSchema>;
export type EncodingPart = z.infer<typeof part>;
export type TermsPart = z.infer<typeof termsPart>;
export type CategoryPart = z.infer<typeof categoryPart>;

/** Numbers that a part becomes. */
export function partWidth(one: EncodingPart): number {
  return one.kind === 'terms' ? 2 * one.most : 1;
}

export function encodedWidth({ parts }: InputEncoding): number {
  return parts.reduce((sum, one) => sum + partWidth(one), 0);
}
