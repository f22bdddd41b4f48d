import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { KnownAnswers } from '../protocol/index.js';
import { inputLength } from './deviceLayout.js';
import { fileSize } from './fileSize.js';
import type { KernelModel } from './kernelModel.js';
import { fieldPath, GOLDEN_FILE, type KernelModelManifest } from './manifest.js';
import { ModelError } from './modelError.js';

/** A value of an input: null is one that is missing, as JSON has no NaN. */
export const inputNumber = z
  .number()
  .nullable()
  .transform((value) => value ?? NaN);

/** Numbers; of a model of strings the text, or the row of its columns. */
export const goldenInput = z.union([
  z.array(inputNumber),
  z.string(),
  z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])),
]);

const goldenSchema = z.strictObject({
  /** A score is right within `tolerance` times the larger of 1 and its size. */
  tolerance: z.number().nonnegative().default(1e-5),
  cases: z
    .array(
      z.strictObject({
        input: goldenInput,
        /** The answer, where the model answers labels. */
        label: z.string().optional(),
        /** The scores, or the answer itself where the model answers values. */
        scores: z.array(z.number()).optional(),
      }),
    )
    .min(1),
});

/** Inputs whose answers are known. */
export type GoldenFile = z.infer<typeof goldenSchema>;
/** As models take them: of strings the bytes of their UTF-8. */
export type GoldenSet = KnownAnswers;
export type GoldenCase = GoldenSet['cases'][number];

/** So many are asked of a replica before it serves. */
const SAMPLE = 8;

/** The first golden inputs of a model's folder, or what is wrong with them; undefined when it has none. */
export function goldenSample(model: Pick<KernelModel, 'folder' | 'manifest'>): KernelModel['golden'] {
  try {
    const golden = loadGolden(model);
    return golden === undefined ? undefined : { ...golden, cases: golden.cases.slice(0, SAMPLE) };
  } catch (error) {
    if (error instanceof ModelError) return { problem: error.message };
    throw error;
  }
}

/**
 * Reads the golden inputs of a model's folder.
 * @returns undefined when it has none.
 * @throws ModelError `goldenInvalid` naming the field.
 */
export function loadGolden({
  folder,
  manifest,
}: Pick<KernelModel, 'folder' | 'manifest'>): GoldenSet | undefined {
  const file = join(folder, GOLDEN_FILE);
  if (!existsSync(file)) return undefined;
  let text: string;
  try {
    fileSize(file);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ModelError('goldenInvalid', file, undefined, `cannot be read (${(error as Error).message})`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ModelError('goldenInvalid', file, undefined, `not JSON: ${(error as Error).message}`);
  }
  const parsed = goldenSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ModelError('goldenInvalid', file, fieldPath(issue.path) || undefined, issue.message);
  }
  const cases = parsed.data.cases.map((each, index) => {
    const field = `cases[${index}]`;
    const known = { ...each, input: inputOf(each.input, manifest, file, field) };
    checkCase(known, manifest, file, field);
    return known;
  });
  return { tolerance: parsed.data.tolerance, cases };
}

function inputOf(
  input: GoldenFile['cases'][number]['input'],
  manifest: KernelModelManifest,
  file: string,
  field: string,
): readonly number[] {
  if (manifest.inputs[0].type !== 'strings') {
    const odd = typeof input === 'string' ? -1 : input.findIndex((value) => typeof value !== 'number');
    if (typeof input !== 'string' && odd < 0) return input as number[];
    const place = odd < 0 ? `${field}.input` : `${field}.input[${odd}]`;
    throw new ModelError(
      'goldenInvalid',
      file,
      place,
      odd < 0 ? 'must be a list of numbers' : 'must be a number, or null where a value is missing',
    );
  }
  // A row's numbers may have been read for NaN, which is null in JSON again.
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return Array.from(new TextEncoder().encode(text));
}

function checkCase(each: GoldenCase, manifest: KernelModelManifest, file: string, field: string): void {
  const length = inputLength(manifest);
  const isText = manifest.inputs[0].type === 'strings';
  if (!isText && each.input.length !== length) {
    throw new ModelError(
      'goldenInvalid',
      file,
      `${field}.input`,
      `${each.input.length} values, the model takes ${length}`,
    );
  }
  const missing = manifest.inputs[0].missing === true ? -1 : each.input.findIndex(Number.isNaN);
  if (missing >= 0) {
    throw new ModelError(
      'goldenInvalid',
      file,
      `${field}.input[${missing}]`,
      'is null, and the model takes no missing values',
    );
  }
  const { answer } = manifest;
  if (each.label === undefined && each.scores === undefined) {
    throw new ModelError('goldenInvalid', file, field, "expects nothing: give 'label', 'scores' or both");
  }
  if (each.label === undefined) return;
  if (answer.kind === 'values' || answer.kind === 'tensors') {
    throw new ModelError('goldenInvalid', file, `${field}.label`, "the model answers values: give 'scores'");
  }
  if (answer.labels !== undefined && !answer.labels.includes(each.label)) {
    throw new ModelError(
      'goldenInvalid',
      file,
      `${field}.label`,
      `the model has no label '${each.label}', only ${answer.labels.join(', ')}`,
    );
  }
}
