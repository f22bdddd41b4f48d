/** How values are written on an axis: each times `factor`, in `name`. Percentages with the factor 1 are shares of one. */
export interface AxisUnit {
  readonly name: string;
  readonly factor: number;
}

const SECONDS = [unit('µs', 1e6, 1e-3), unit('ms', 1e3, 1), unit('s', 1, 600), unit('h', 1 / 3600, 172_800)];
const BYTES = [
  unit('B', 1, 2 ** 11),
  unit('KiB', 2 ** -10, 2 ** 21),
  unit('MiB', 2 ** -20, 2 ** 31),
  unit('GiB', 2 ** -30, Infinity),
];

/** By Grafana's names; of each the first that takes the highest value. */
const UNITS: Readonly<Record<string, readonly (AxisUnit & { readonly upTo: number })[]>> = {
  none: [unit('', 1, Infinity)],
  reqps: [unit('req/s', 1, Infinity)],
  ops: [unit('1/s', 1, Infinity)],
  percentunit: [unit('ppm', 1e6, 1e-4), unit('%', 1, 1.000001), unit('%', 100, Infinity)],
  s: [...SECONDS, unit('days', 1 / 86_400, Infinity)],
  bytes: BYTES,
  mbytes: BYTES.map(({ name, factor, upTo }) => unit(name, factor * 2 ** 20, upTo / 2 ** 20)),
  Bps: BYTES.map(({ name, factor, upTo }) => unit(`${name}/s`, factor, upTo)),
  watt: [unit('W', 1, Infinity)],
  hertz: [unit('MHz', 1e-6, Infinity)],
};

function unit(name: string, factor: number, upTo: number): AxisUnit & { readonly upTo: number } {
  return { name, factor, upTo };
}

/** @param name Grafana's of the unit */
export function axisUnit(name: string, highest: number): AxisUnit {
  const found = UNITS[name]?.find(({ upTo }) => highest < upTo);
  if (found === undefined) throw new RangeError(`no axis is known for the unit ${name}`);
  return found;
}
