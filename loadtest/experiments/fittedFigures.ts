import type { DeviceProfile, ResolvedCard } from '../../simulator/gpu/index.js';

/** A figure of the timing model that no microbenchmark gives: it was chosen so that measured launches come out right. */
export interface FittedFigure {
  /** A field of `timing`. */
  readonly name: string;
  readonly value: number;
}

/** Fitted figures that a lone launch's time can depend on, by the sources that the card's data names. */
export function fittedFigures({ figures }: ResolvedCard): FittedFigure[] {
  return figures.flatMap(({ path, value, source }) => {
    const [group, name, ...deeper] = path.split('.');
    const isOurs = group === 'timing' && deeper.length === 0 && source.kind === 'fitted';
    return isOurs && source.text.includes('h200-calibration') && typeof value === 'number'
      ? [{ name, value }]
      : [];
  });
}

/** The card with other values; one that counts things is rounded to a whole one. */
export function withFigures(card: DeviceProfile, values: Readonly<Record<string, number>>): DeviceProfile {
  const changed = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      COUNTS.has(name) ? Math.max(1, Math.round(value)) : value,
    ]),
  );
  return { ...card, timing: { ...card.timing, ...changed } };
}

/** Figures that stand for a number of places. */
const COUNTS: ReadonlySet<string> = new Set(['schedulingWindow']);
