/** As `JSON.stringify`, but that -0, which it writes as 0, stays -0, and a bigint is its digits. @throws TypeError as it does */
export function jsonText(value: unknown): string {
  return hasOdd(value) ? write(value) : JSON.stringify(value);
}

function hasOdd(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value === 'number') return Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.some(hasOdd) : Object.values(value).some(hasOdd);
}

function write(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'bigint') return String(value);
  if (!isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((element) => write(element) ?? 'null').join(',')}]`;
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const text = write(field) as string | undefined;
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

/** An array, or an object that does not say itself how it is written. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
