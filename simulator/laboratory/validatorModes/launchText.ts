/** The text of a number in generated code. */
export function literal(value: number): string {
  if (value === Infinity) return 'Infinity';
  return value < 0 ? `(${value})` : `${value}`;
}

/** An argument's little-endian integer in the parameter bytes `A`; of 8 bytes it may not be a safe integer. */
export function argumentText(offset: number, bytes: 1 | 2 | 4 | 8, signed: boolean): string {
  const word = (at: number): string =>
    `A[${at}] | A[${at + 1}] << 8 | A[${at + 2}] << 16 | A[${at + 3}] << 24`;
  if (bytes === 1) return signed ? `(A[${offset}] << 24 >> 24)` : `(A[${offset}] | 0)`;
  if (bytes === 2) {
    const half = `A[${offset}] | A[${offset + 1}] << 8`;
    return signed ? `((${half}) << 16 >> 16)` : `(${half})`;
  }
  if (bytes === 4) return signed ? `(${word(offset)})` : `((${word(offset)}) >>> 0)`;
  const high = signed ? `(${word(offset + 4)})` : `((${word(offset + 4)}) >>> 0)`;
  return `(${high} * 4294967296 + ((${word(offset)}) >>> 0))`;
}

const DIMENSIONS: Readonly<Record<string, string>> = {
  'ntid.x': 'bx',
  'ntid.y': 'by',
  'ntid.z': 'bz',
  'nctaid.x': 'gx',
  'nctaid.y': 'gy',
  'nctaid.z': 'gz',
};

/** Name of a dimension in generated code. */
export function dimensionText(name: string): string {
  return DIMENSIONS[name] ?? '1';
}

/** Extent of `%tid` or `%ctaid` in generated code. */
export function extentText(name: string): string {
  return dimensionText(`n${name}`);
}

/** What generated code reads of its launch `L`. */
export const LAUNCH_TEXT = [
  'const A = L.params, Y = L.symbols, M = L.allocations;',
  'const g = L.shape.grid, b = L.shape.block;',
  'const gx = g[0], gy = g[1], gz = g[2], bx = b[0], by = b[1], bz = b[2];',
].join('\n');
