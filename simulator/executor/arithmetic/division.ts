/**
 * Integer division never traps. PTX leaves a zero divisor open; these are the results of the code that the hardware's
 * assembler makes of it.
 */

/** Signed or unsigned by the operands' own sign; the caller wraps the result to its width. */
export function divide(a: number, b: number): number {
  return b === 0 ? -1 : Math.trunc(a / b);
}

export function remainder(a: number, b: number): number {
  return b === 0 ? -1 : (a % b) + 0;
}

export function divideBig(a: bigint, b: bigint): bigint {
  return b === 0n ? -1n : a / b;
}

export function remainderBig(a: bigint, b: bigint): bigint {
  return b === 0n ? -1n : a % b;
}
