/** Whole numbers up to here are exact in floating point. */
export const MOST = Number.MAX_SAFE_INTEGER;
