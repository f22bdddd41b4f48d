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
  return {
    low: 10 ** first,
    high: 10 ** last,
    ticks,
    place: (value) => {
      const share = (Math.log10(Math.max(value, 10 ** first)) - first) / (last - first);
      return from + share * (to - from);
    },
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
