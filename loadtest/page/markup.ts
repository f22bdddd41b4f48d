/** Three digits, thousands apart, and no exponent where a person reads it. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return value.toExponential(2);
  const rounded = size >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  const [whole, fraction] = decimalText(rounded).split('.');
  // Thin spaces, which do not break.
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

export function percentText(share: number): string {
  return Number.isFinite(share) ? `${numberText(share * 100)}\u202f%` : '–';
}

export function msText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  return ms !== 0 && ms < 1 ? `${numberText(ms * 1000)}\u202fµs` : `${numberText(ms)}\u202fms`;
}

function decimalText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(8).replace(/0+$/, '') : text;
}
