import { LoadError } from './loadError.js';
import { TIME_UNITS, UNIT_NAMES, UNITS_PER_SECOND, type TimeUnit } from './timestamp.js';

/** Numbers between these are seconds since 1970 of this century, and of no other time that a trace has. */
const FIRST_EPOCH_SECOND = Date.UTC(2000, 0) / 1000;
const LAST_EPOCH_SECOND = Date.UTC(2100, 0) / 1000;

/** Queries a second that a trace has at the least, if its times are whole numbers, or have fractions. */
const LEAST_RATE = { whole: 0.1, fractions: 0.001 };

/** The unit in which a number would be a time of this century since 1970. */
export function epochUnitOf(value: number): TimeUnit | undefined {
  return TIME_UNITS.find((unit) => {
    const seconds = value / UNITS_PER_SECOND[unit];
    return seconds >= FIRST_EPOCH_SECOND && seconds < LAST_EPOCH_SECOND;
  });
}

/** What the times of a whole file look like. */
export interface TimeNumbers {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly haveFractions: boolean;
}

export interface ChosenUnit {
  readonly unit: TimeUnit;
  /** What made the choice, to be shown. */
  readonly why: string;
  readonly isSinceEpoch: boolean;
}

/**
 * The unit of a file's times: as asked, as the column is named, as their magnitude says since 1970; and for times since
 * something else, the coarsest unit in which queries do not come too seldom.
 * @throws LoadError when the column's name and the magnitude contradict each other.
 */
export function chooseUnit(
  numbers: TimeNumbers,
  { asked, named, timeName, path }: { asked?: TimeUnit; named?: TimeUnit; timeName: string; path: string },
): ChosenUnit {
  const { first, last, rows, haveFractions } = numbers;
  const atFirst = epochUnitOf(first);
  const epoch = atFirst === epochUnitOf(last) ? atFirst : undefined;
  if (asked !== undefined) {
    return { unit: asked, why: 'as --time-unit says', isSinceEpoch: epoch === asked };
  }
  if (named !== undefined) {
    if (epoch !== undefined && UNITS_PER_SECOND[epoch] > UNITS_PER_SECOND[named]) {
      throw new LoadError(
        path,
        `${timeName} is read in ${UNIT_NAMES[named]}, and ${first} to ${last} are ${UNIT_NAMES[epoch]} since 1970: ` +
          `say --time-unit ${epoch}, or --time-unit ${named} to read them as they are`,
      );
    }
    return { unit: named, why: 'as it always is', isSinceEpoch: epoch === named };
  }
  if (epoch !== undefined) {
    return { unit: epoch, why: 'since 1970, by their magnitude', isSinceEpoch: true };
  }
  const least = haveFractions ? LEAST_RATE.fractions : LEAST_RATE.whole;
  const rateIn = (unit: TimeUnit): number => ((rows - 1) / (last - first)) * UNITS_PER_SECOND[unit];
  // A single moment has no rate, and is at zero in any unit.
  const unit = last > first ? (TIME_UNITS.find((one) => rateIn(one) >= least) ?? 'ns') : 's';
  const coarser = TIME_UNITS.at(TIME_UNITS.indexOf(unit) - 1);
  const others =
    unit === 's' || coarser === undefined
      ? ''
      : `: in ${UNIT_NAMES[coarser]} there would be ${rateIn(coarser).toPrecision(2)} queries a second`;
  return { unit, why: `assumed${others}`, isSinceEpoch: false };
}

/** @throws LoadError naming the units that there are. */
export function checkUnit(text: string): TimeUnit {
  const found = TIME_UNITS.find((unit) => unit === text);
  if (found === undefined)
    throw new LoadError('--time-unit', `'${text}' is none of ${TIME_UNITS.join(', ')}`);
  return found;
}
