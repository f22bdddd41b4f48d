/**
 * The classes with the highest values, highest first, in the form of the classification extension: `value:index`, and
 * `:label` where there is one. Of equal values the lower index comes first; NaN comes last.
 */
export function topClasses(
  values: ArrayLike<number>,
  count: number,
  labels: readonly string[] | undefined,
): string[] {
  return Array.from(values, (value, index) => ({
    value,
    rank: Number.isNaN(value) ? -Infinity : value,
    index,
  }))
    .sort((one, other) => (one.rank === other.rank ? one.index - other.index : other.rank - one.rank))
    .slice(0, count)
    .map(({ value, index }) => {
      // Nine digits tell any two float32 apart.
      const short = Number.isFinite(value) ? String(Number(value.toPrecision(9))) : String(value);
      const text = Object.is(value, -0) ? '-0' : short;
      const label = labels?.[index];
      return label === undefined ? `${text}:${index}` : `${text}:${index}:${label}`;
    });
}
