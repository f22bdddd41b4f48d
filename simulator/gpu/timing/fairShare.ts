/**
 * The max-min fair level of a shared capacity: each of `counts[i]` members wants `demands[i]`; members that want less
 * than the level get what they want, the others get the level. When all wants fit, the level is what the largest would
 * get if everybody grew alike until the capacity is full, so that it falls smoothly into the saturated case.
 */
export function fairShare(capacity: number, counts: readonly number[], demands: readonly number[]): number {
  let wanted = 0;
  let largest = 0;
  for (let index = 0; index < demands.length; index++) {
    wanted += counts[index] * demands[index];
    if (demands[index] > largest) largest = demands[index];
  }
  if (wanted <= 0) return Infinity;
  if (wanted <= capacity) return (capacity / wanted) * largest;

  const order = demands.map((_, index) => index).sort((a, b) => demands[a] - demands[b]);
  let left = capacity;
  let members = counts.reduce((sum, count) => sum + count, 0);
  for (const index of order) {
    const level = left / members;
    if (demands[index] >= level) return level;
    left -= counts[index] * demands[index];
    members -= counts[index];
  }
  return largest;
}
