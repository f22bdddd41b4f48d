export type LoadErrorCode = 'externalVariable' | 'unknownSymbol';

/** A module that cannot be placed in a context. */
export class LoadError extends Error {
  readonly code: LoadErrorCode;

  constructor(code: LoadErrorCode, message: string) {
    super(message);
    this.name = 'LoadError';
    this.code = code;
  }
}
