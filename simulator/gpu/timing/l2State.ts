/** What L2 holds, by segment; oldest first. Plain data. */
export interface L2State {
  entries: { key: string; bytes: number }[];
}

export type MissCurve = readonly (readonly [bytes: number, share: number])[];

/** Share of accesses that miss when `bytes` are swept again and again; straight lines between the curve's points. */
export function missShare(curve: MissCurve, bytes: number): number {
  const first = curve[0];
  if (bytes <= first[0]) return first[1];
  for (let index = 1; index < curve.length; index++) {
    const [lowBytes, lowShare] = curve[index - 1];
    const [highBytes, highShare] = curve[index];
    if (bytes <= highBytes) {
      return lowShare + ((highShare - lowShare) * (bytes - lowBytes)) / (highBytes - lowBytes);
    }
  }
  return curve[curve.length - 1][1];
}

/**
 * Share of accesses at random to `bytes` that miss. Measured by chases of random lines in windows of 64 to 512 MB: L2 then
 * holds somewhat more than of what is swept.
 */
export function randomMissShare(curve: MissCurve, bytes: number): number {
  return bytes <= 0 ? 0 : Math.max(0, 1 - (curve[0][0] * KEPT_AT_RANDOM) / bytes);
}

/** Of the largest footprint that is swept without misses. */
const KEPT_AT_RANDOM = 1.25;

/** Share of a segment's bytes that are in L2. */
export function residentShare(state: L2State, key: string, bytes: number): number {
  const entry = state.entries.find((held) => held.key === key);
  return entry === undefined ? 0 : Math.min(1, entry.bytes / Math.max(1, bytes));
}

/**
 * A launch has swept these segments: they are the newest now, and what no longer fits goes, oldest first. Of a
 * footprint larger than L2 the curve says how much stays.
 */
export function touchSegments(
  state: L2State,
  touched: readonly { readonly key: string; readonly bytes: number }[],
  curve: MissCurve,
): void {
  const total = touched.reduce((sum, segment) => sum + segment.bytes, 0);
  const kept = 1 - missShare(curve, total);
  for (const { key, bytes } of touched) {
    const held = state.entries.findIndex((entry) => entry.key === key);
    if (held >= 0) state.entries.splice(held, 1);
    state.entries.push({ key, bytes: bytes * kept });
  }
  const capacity = curve[0][0] * 1.4;
  let sum = state.entries.reduce((all, entry) => all + entry.bytes, 0);
  while (sum > capacity && state.entries.length > 1) {
    const oldest = state.entries[0];
    const over = sum - capacity;
    if (oldest.bytes > over) {
      oldest.bytes -= over;
      break;
    }
    sum -= oldest.bytes;
    state.entries.shift();
  }
}

/** A freed segment's bytes mean nothing any more. */
export function forgetSegment(state: L2State, key: string): void {
  const held = state.entries.findIndex((entry) => entry.key === key);
  if (held >= 0) state.entries.splice(held, 1);
}
