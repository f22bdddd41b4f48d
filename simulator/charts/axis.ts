/** From data to pixels, with ticks at round numbers. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  place(value: number): number;
}

/**
 * @param low, high the data's ends; the axis reaches to the next round number outside them.
 * @param from, to the pixels of the axis' ends.
 * @param wanted about how many ticks.
 */
export function linearAxis(low: number, high: number, from: number, to: number, wanted: number): Axis {
  const step = roundStep((high - low || 1) / wanted);
  const first = Math.floor(low / step + 1e-9) * step;
  const last = Math.max(first + step, Math.ceil(high / step - 1e-9) * step);
  const ticks: number[] = [];
  for (let at = 0; first + at * step <= last + step / 2; at++) ticks.push(clean(first + at * step));
  return {
    low: first,
    high: last,
    ticks,
    place: (value) => from + ((value - first) / (last - first)) * (to - from),
  };
}

/** Like `linearAxis`, with a tick a power of ten. Values below the axis, zero among them, sit on its lower end. */
export function logarithmicAxis(low: number, high: number, from: number, to: number): Axis {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  const ticks: number[] = [];
  for (let power = first; power <= last; power++) ticks.push(clean(10 ** power));
  return overTicks(ticks, from, to);
}

/** From zero to exactly `high`, where data ends; `wanted` ticks or so. */
export function fittingAxis(high: number, from: number, to: number, wanted: number): Axis {
  const { ticks, high: rounded } = linearAxis(0, high > 0 ? high : 1, from, to, wanted);
  const last = high > 0 ? high : rounded;
  return {
    low: 0,
    high: last,
    ticks: ticks.filter((tick) => tick <= last * (1 + 1e-9)),
    place: (value) => from + (value / last) * (to - from),
  };
}

/** From a tick below the data to one above: powers of ten and, where they are few, two and five times them. */
export function roundLogarithmicAxis(low: number, high: number, from: number, to: number): Axis {
  const factors = high / low > 1000 ? [1] : [1, 2, 5];
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)) + 1; power++) {
    all.push(...factors.map((factor) => Number((factor * 10 ** power).toPrecision(1))));
  }
  const first = Math.max(
    0,
    all.findLastIndex((tick) => tick <= low * (1 - 1e-3)),
  );
  const last = all.findIndex((tick) => tick >= high * (1 + 1e-3));
  return overTicks(all.slice(first, last + 1), from, to);
}

/** A logarithmic axis from the first tick to the last; what lies below sits on its lower end. */
function overTicks(ticks: readonly number[], from: number, to: number): Axis {
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const [start, end] = [Math.log10(low), Math.log10(high)];
  return {
    low,
    high,
    ticks,
    place: (value) => from + ((Math.log10(Math.max(value, low)) - start) / (end - start)) * (to - from),
  };
}

/** 1, 2 or 5 times a power of ten, at least `step`. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  for (const factor of [1, 2, 5]) if (factor * power >= step * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Without the dust of binary fractions: 0.30000000000000004 is 0.3. */
function clean(value: number): number {
  return Number(value.toPrecision(12));
}

/** A tick's text: thousands apart, no needless decimals. */
export function tickText(value: number): string {
  if (Math.abs(value) < 10_000) return `${value}`;
  const [whole, fraction] = `${value}`.split('.');
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ' ');
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}
