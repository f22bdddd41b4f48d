/** `syntax`: not PTX. `unsupported`: PTX, but of a kind that no part of this simulator runs (32-bit addresses, say). */
export type PtxErrorCode = 'syntax' | 'unsupported';

/** A PTX text that cannot be loaded: where, what was expected and what stands there. */
export class PtxParseError extends Error {
  override readonly name = 'PtxParseError';

  constructor(
    readonly code: PtxErrorCode,
    readonly file: string,
    readonly line: number,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`${file}:${line}: expected ${expected}, found ${found}`);
  }
}
