/** Intervals of numbers, unbounded ends as ±Infinity; sound though not exact beyond 2^53. */
export type Range = readonly [lo: number, hi: number];

export const EVERYTHING: Range = [-Infinity, Infinity];

/** Beyond exact integers a bound is moved out by more than rounding has moved it, and at last says nothing. */
function bound(lo: number, hi: number): Range {
  return [-outward(-lo), outward(hi)];
}

const MARGIN = 2 ** -40;
const MOST = 2 ** 160;

function outward(hi: number): number {
  if (Math.abs(hi) <= Number.MAX_SAFE_INTEGER) return hi;
  if (hi < 0) return hi < -MOST ? -MOST : hi * (1 - MARGIN);
  return hi > MOST ? Infinity : hi * (1 + MARGIN);
}

export function addRanges(a: Range, b: Range): Range {
  return bound(a[0] + b[0], a[1] + b[1]);
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

export function multiplyRanges(a: Range, b: Range): Range {
  const corners = [times(a[0], b[0]), times(a[0], b[1]), times(a[1], b[0]), times(a[1], b[1])];
  return bound(Math.min(...corners), Math.max(...corners));
}

export function union(a: Range, b: Range): Range {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

/** Of a / b for b of one sign. The quotient of two safe integers, rounded, is exact in double precision. */
export function divideRanges(a: Range, b: Range, rounding: 'floor' | 'zero'): Range {
  if (b[0] <= 0 && b[1] >= 0) return EVERYTHING;
  const round = rounding === 'floor' ? Math.floor : Math.trunc;
  const corners: number[] = [];
  for (const x of a) {
    for (const y of b) {
      if (Number.isFinite(y)) corners.push(round(x / y));
      else if (Number.isFinite(x)) corners.push(0, rounding === 'floor' ? -1 : 0);
      else return EVERYTHING;
    }
  }
  return bound(Math.min(...corners), Math.max(...corners));
}
