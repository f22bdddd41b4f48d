import type { OracleRandom } from '../oracles/index.js';

/**
 * How the buffers of a launch lie to one another.
 * - distinct: an allocation each;
 * - pooled: pieces of one allocation with gaps between them, as a caching allocator gives;
 * - adjacent: two without a gap;
 * - halves: two in halves of one allocation, the later parameter in the lower half or the upper;
 * - equal: two start at the same place;
 * - overlapping: two share some bytes at an end;
 * - interior: one lies inside the other.
 */
export const PLANS = [
  'distinct',
  'pooled',
  'adjacent',
  'halves',
  'equal',
  'overlapping',
  'interior',
] as const;
export type Plan = (typeof PLANS)[number];

/** A buffer to be placed. */
export interface Buffer {
  readonly bytes: number;
  /** Bytes to whose multiple its start must be. */
  readonly align: number;
  readonly isWritten: boolean;
  /** It gets an allocation of its own under every plan. */
  readonly isApart: boolean;
}

/** Where a buffer lies. */
export interface BufferPlace {
  readonly allocation: number;
  readonly offset: number;
}

export interface Placement {
  readonly plan: Plan;
  readonly places: readonly BufferPlace[];
  /** Bytes of each allocation. */
  readonly allocations: readonly number[];
}

/** Places buffers by a plan; one that needs two buffers falls back to `distinct` where there are none. */
export function placeBuffers(buffers: readonly Buffer[], wanted: Plan, random: OracleRandom): Placement {
  const pair = drawPair(buffers, random);
  const plan = pair === undefined ? 'distinct' : wanted;
  const places = new Array<BufferPlace>(buffers.length).fill({ allocation: -1, offset: 0 });
  const allocations: number[] = [];
  const put = (indices: readonly number[], offsets: readonly number[], slack: number): void => {
    const end = Math.max(...indices.map((index, at) => (offsets[at] ?? 0) + (buffers[index]?.bytes ?? 0)));
    indices.forEach((index, at) => {
      places[index] = { allocation: allocations.length, offset: offsets[at] ?? 0 };
    });
    allocations.push(Math.max(1, end + slack));
  };
  if (plan === 'pooled') {
    const pooled = buffers.flatMap(({ isApart }, index) => (isApart ? [] : [index]));
    const order = random.order(pooled.length).map((at) => pooled[at] ?? 0);
    let at = 0;
    const offsets = order.map((index) => {
      const { bytes, align } = buffers[index] ?? { bytes: 0, align: 1 };
      const offset = roundUp(at + 16 * random.below(5), align);
      at = offset + bytes;
      return offset;
    });
    put(order, offsets, 0);
  } else if (plan !== 'distinct' && pair !== undefined) {
    put(pair, pairOffsets(plan, pair, buffers, random), 0);
  }
  buffers.forEach((_, index) => {
    if (places[index]?.allocation === -1) put([index], [0], random.chance(0.25) ? 64 : 0);
  });
  return { plan, places, allocations };
}

/** One that is written and another, in either order; undefined when there are none. */
function drawPair(buffers: readonly Buffer[], random: OracleRandom): readonly [number, number] | undefined {
  const free = buffers.flatMap(({ isApart }, index) => (isApart ? [] : [index]));
  const written = free.filter((index) => buffers[index]?.isWritten === true);
  if (written.length === 0 || free.length < 2) return undefined;
  const first = random.pick(written);
  const second = random.pick(free.filter((index) => index !== first));
  return random.chance(0.5) ? [first, second] : [second, first];
}

function pairOffsets(
  plan: Exclude<Plan, 'distinct' | 'pooled'>,
  pair: readonly [number, number],
  buffers: readonly Buffer[],
  random: OracleRandom,
): readonly [number, number] {
  const [low, high] = pair.map((index) => buffers[index]?.bytes ?? 0) as [number, number];
  const align = Math.max(...pair.map((index) => buffers[index]?.align ?? 1));
  switch (plan) {
    case 'equal':
      return [0, 0];
    case 'adjacent':
      return [0, roundUp(low, align)];
    case 'halves':
      return [0, roundUp(Math.max(low, high), align)];
    case 'overlapping': {
      // The second begins some elements before the first ends.
      const shared = align * random.pick([1, 1, 2, 4, 16]);
      return [0, Math.max(0, roundUp(low, align) - shared)];
    }
    case 'interior': {
      const room = Math.max(0, Math.floor((low - high) / align));
      const offset = room > 0 ? random.between(0, room) : random.between(0, Math.floor(low / align / 2));
      return [0, offset * align];
    }
  }
}

function roundUp(bytes: number, align: number): number {
  return Math.ceil(bytes / align) * align;
}
