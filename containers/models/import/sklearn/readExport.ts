import { fieldPath } from '../../manifest.js';
import { ModelError } from '../../modelError.js';
import { exportSchema, MODEL_KINDS, type SklearnExport } from './exportSchema.js';

const AGAIN = 'export the model again with sklearnExport.py';

/** Checks lengths of an export that the schema cannot see. */
export class ExportCheck {
  constructor(private readonly file: string) {}

  fail(field: string, problem: string): never {
    throw new ModelError('importInvalid', this.file, field, `${problem}; ${AGAIN}`);
  }

  length(list: { readonly length: number }, expected: number, field: string): void {
    if (list.length !== expected) this.fail(field, `has ${list.length} entries, expected ${expected}`);
  }

  /** Rows of `columns` entries each, put one after the other. */
  matrix(rows: readonly (readonly number[])[], columns: number, field: string): Float64Array {
    const matrix = new Float64Array(rows.length * columns);
    rows.forEach((row, index) => {
      this.length(row, columns, `${field}[${index}]`);
      matrix.set(row, index * columns);
    });
    return matrix;
  }
}

/** Reads an export's text. @throws ModelError `importInvalid` or `importUnsupported` naming the field. */
export function readExport(text: string, file: string): SklearnExport {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const notFinite = /[:[,]\s*-?(NaN|Infinity)\b/.exec(text);
    const isGolden = notFinite !== null && /"golden"\s*:/.test(text.slice(0, notFinite.index));
    const problem =
      notFinite === null
        ? `not JSON: ${(error as Error).message}; ${AGAIN}`
        : isGolden
          ? 'it holds NaN or Infinity among its golden inputs, which no JSON does: write null for a missing value'
          : 'it holds NaN or Infinity, which no JSON does: the model has parameters that are no numbers, fit it again';
    throw new ModelError('importInvalid', file, undefined, problem);
  }
  refuseOthers(json, file);
  const parsed = exportSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ModelError(
      'importInvalid',
      file,
      fieldPath(issue.path) || undefined,
      `${issue.message}; ${AGAIN}`,
    );
  }
  const { classes } = parsed.data;
  const twice = classes.find((label, index) => classes.indexOf(label) !== index);
  if (twice !== undefined) {
    throw new ModelError(
      'importInvalid',
      file,
      'classes',
      `two classes are both '${twice}' as text; fit the model with labels that differ as text`,
    );
  }
  return parsed.data;
}

/** What is not ours, or newer, or of another kind is said so before anything else is looked at. */
function refuseOthers(json: unknown, file: string): void {
  const { format, formatVersion, model } = (json ?? {}) as Record<string, unknown>;
  if (format !== 'windjammer-sklearn') {
    throw new ModelError(
      'importInvalid',
      file,
      'format',
      `must be 'windjammer-sklearn': write the file with sklearnExport.py`,
    );
  }
  if (formatVersion !== 1) {
    throw new ModelError(
      'importUnsupported',
      file,
      'formatVersion',
      `${JSON.stringify(formatVersion)} is not supported, only 1 and 2; ${AGAIN} of this release`,
    );
  }
  const { kind } = (model ?? {}) as Record<string, unknown>;
  if (kind !== undefined && !MODEL_KINDS.some((known) => known === kind)) {
    throw new ModelError(
      'importUnsupported',
      file,
      'model.kind',
      `${JSON.stringify(kind)} is not supported, only ${MODEL_KINDS.join(', ')}`,
    );
  }
}
