export type ModelErrorCode =
  /** The folder has no manifest that can be read. */
  | 'manifestMissing'
  /** The manifest is not JSON, misses a field, or contradicts itself. */
  | 'manifestInvalid'
  /** A file that the manifest names cannot be read. */
  | 'fileMissing'
  /** A weights file does not hold what the manifest says. */
  | 'weightsInvalid'
  /** A PTX file does not parse, or its kernel does not take what the manifest passes. */
  | 'moduleInvalid'
  /** An expression failed at one batch size. */
  | 'expressionInvalid'
  /** A file to import is damaged, or contradicts itself. */
  | 'importInvalid'
  /** A file to import is sound, and holds something that cannot be imported. */
  | 'importUnsupported'
  /** The files are others than were registered. */
  | 'filesChanged'
  /** The golden inputs of a model do not fit it. */
  | 'goldenInvalid';

/** Why a kernel model cannot be loaded: the file, the field in the manifest where there is one, and what was expected. */
export class ModelError extends Error {
  override readonly name = 'ModelError';

  constructor(
    readonly code: ModelErrorCode,
    readonly file: string,
    readonly field: string | undefined,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(field === undefined ? `${file}: ${problem}` : `${file}: ${field}: ${problem}`, options);
  }
}
