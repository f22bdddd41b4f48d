/** Growth over a run: the line of least squares through its samples, from the first to the last. */
export function growth(points: readonly { readonly atSeconds: number; readonly value: number }[]): number {
  if (points.length < 2) return 0;
  const meanAt = points.reduce((sum, { atSeconds }) => sum + atSeconds, 0) / points.length;
  const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length;
  let squares = 0;
  let products = 0;
  for (const { atSeconds, value } of points) {
    squares += (atSeconds - meanAt) ** 2;
    products += (atSeconds - meanAt) * (value - mean);
  }
  if (squares === 0) return 0;
  return (products / squares) * (points[points.length - 1].atSeconds - points[0].atSeconds);
}
