/** Points of each density's own grid, and how many standard deviations it reaches. */
const OWN_POINTS = 96;
const OWN_REACH = 9;
const COMMON_POINTS = 200;

/**
 * The probability of each of independent Beta(a, b) variables, a and b at least 1, to be the highest:
 * the integral of its density times the others' distributions, by trapezoids on a grid that is fine where any density is.
 * Good to about three digits; adds up to one.
 */
export function probabilitiesToLead(a: readonly number[], b: readonly number[]): number[] {
  const grid = gridOf(a, b);
  const densities = a.map((alpha, at) => densityOn(grid, alpha, b[at]));
  const distributions = densities.map((density) => cumulated(grid, density));
  const shares = densities.map((density, at) => {
    const integrand = density.map((value, point) => {
      let product = value;
      for (let other = 0; other < a.length; other++) if (other !== at) product *= distributions[other][point];
      return product;
    });
    // An arm without a chance that a double can hold still has one.
    return Math.max(cumulated(grid, integrand)[grid.length - 1], Number.MIN_VALUE * 2 ** 64);
  });
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

function gridOf(a: readonly number[], b: readonly number[]): number[] {
  const points: number[] = [];
  for (let at = 0; at <= COMMON_POINTS; at++) points.push(at / COMMON_POINTS);
  for (let arm = 0; arm < a.length; arm++) {
    const sum = a[arm] + b[arm];
    const mean = a[arm] / sum;
    const deviation = Math.sqrt((mean * (1 - mean)) / (sum + 1));
    for (let at = 0; at <= OWN_POINTS; at++) {
      const x = mean + deviation * OWN_REACH * ((2 * at) / OWN_POINTS - 1);
      if (x > 0 && x < 1) points.push(x);
    }
  }
  return points.sort((x, y) => x - y);
}

/** Normalised on the grid itself, which needs no gamma function. */
function densityOn(grid: readonly number[], a: number, b: number): number[] {
  const logs = grid.map((x) => power(a - 1, x) + power(b - 1, 1 - x));
  const highest = logs.reduce((most, value) => Math.max(most, value), -Infinity);
  const density = logs.map((value) => Math.exp(value - highest));
  const total = cumulated(grid, density)[grid.length - 1];
  return density.map((value) => value / total);
}

/** ln(x ** exponent), where 0 ** 0 is 1. */
function power(exponent: number, x: number): number {
  return exponent === 0 ? 0 : exponent * Math.log(x);
}

function cumulated(grid: readonly number[], values: readonly number[]): number[] {
  const sums = [0];
  for (let at = 1; at < grid.length; at++) {
    sums.push(sums[at - 1] + ((values[at] + values[at - 1]) / 2) * (grid[at] - grid[at - 1]));
  }
  return sums;
}
