/**
 * The time that lies so long after another, in nanoseconds; never that other one while something is left. Once a clock has run
 * for five hours its numbers are further apart than a thousandth of a nanosecond, and what waits for less would wait for ever.
 */
export function timeAfter(nowNs: number, leftNs: number): number {
  const timeNs = nowNs + leftNs;
  return timeNs > nowNs || !(leftNs > 0) ? timeNs : nowNs * (1 + Number.EPSILON);
}
