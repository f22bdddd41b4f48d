import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { inputLength } from './deviceLayout.js';
import { encodedWidth, encodingSchema, type InputEncoding } from './encoding/index.js';
import { fileSize } from './fileSize.js';
import { fieldPath, type KernelModelManifest } from './manifest.js';
import { ModelError } from './modelError.js';

/** Vocabularies are long; a longer file is none. */
const MAX_ENCODING_BYTES = 2 ** 27;

/**
 * How a model's strings become what its kernels take.
 * @returns undefined where it takes numbers
 * @throws ModelError `manifestInvalid` naming the file and the field
 */
export function readEncoding(folder: string, manifest: KernelModelManifest): InputEncoding | undefined {
  const { encoding: declared } = manifest.inputs[0];
  if (declared === undefined) return undefined;
  const file = join(folder, declared.file);
  const refuse = (field: string | undefined, problem: string): never => {
    throw new ModelError('manifestInvalid', file, field, problem);
  };
  let json: unknown;
  try {
    if (fileSize(file) > MAX_ENCODING_BYTES) refuse(undefined, `more than ${MAX_ENCODING_BYTES} bytes`);
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof ModelError) throw error;
    refuse(undefined, `cannot be read (${reasonOf(error)})`);
  }
  const parsed = encodingSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(fieldPath(issue.path) || undefined, issue.message);
  }
  const encoding = parsed.data;
  const columns = declared.columns?.length ?? 1;
  encoding.parts.forEach((part, place) => {
    const field = `parts[${place}]`;
    if (part.column >= columns) refuse(`${field}.column`, `${part.column} of ${columns} columns`);
    if (declared.columns === undefined && part.kind !== 'terms')
      refuse(`${field}.kind`, 'a query that is one text has terms');
    if (part.kind === 'category' && (part.missing ?? 0) >= part.categories.length)
      refuse(`${field}.missing`, `${part.missing} of ${part.categories.length} categories`);
    if (part.kind === 'terms' && part.grams[0] > part.grams[1])
      refuse(`${field}.grams`, `from ${part.grams[0]} to ${part.grams[1]}`);
  });
  const [width, length] = [encodedWidth(encoding), inputLength(manifest)];
  if (width !== length)
    refuse('parts', `they make ${width} numbers, inputs[0].shape of the manifest has ${length}`);
  return encoding;
}
