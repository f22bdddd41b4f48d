/** `value ** exponent`, of exponents that stay: the whole ones that the cards have are multiplied out. */
export function raised(value: number, exponent: number): number {
  if (exponent === 5) {
    const squared = value * value;
    return squared * squared * value;
  }
  if (exponent === 3) return value * value * value;
  if (exponent === 2) return value * value;
  return value ** exponent;
}

/** `value ** (1 / exponent)`. */
export function rooted(value: number, exponent: number): number {
  if (exponent === 3) return Math.cbrt(value);
  if (exponent === 2) return Math.sqrt(value);
  return value ** (1 / exponent);
}
