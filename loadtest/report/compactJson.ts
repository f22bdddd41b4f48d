const WIDTH = 160;

/** JSON for people and for diffs: what fits on a line of 160 characters stands on one. Numbers have five digits. */
export function compactJson(value: object): string {
  // What JSON leaves out or writes in a way of its own is settled before lines are counted.
  return `${written(JSON.parse(JSON.stringify(value, fiveDigits)), 0)}\n`;
}

function written(value: unknown, depth: number): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || depth + line.length <= WIDTH) return line;
  const inner = ' '.repeat(depth + 1);
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${written(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${' '.repeat(depth)}${close}`;
}

/** Enough to draw from, and the file stays readable. */
function fiveDigits(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
