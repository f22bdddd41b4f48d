import type { MetricName, Metrics } from './catalogue/index.js';

type HistogramName = { [N in MetricName]: Metrics[N]['type'] extends 'histogram' ? N : never }[MetricName];
type CounterName = { [N in MetricName]: Metrics[N]['type'] extends 'counter' ? N : never }[MetricName];
type Bucket = `${HistogramName}_bucket`;
type SumOrCount = `${HistogramName}_${'sum' | 'count'}`;

/** What only grows, and of which rates are taken. */
export type CountedName = CounterName | Bucket | SumOrCount;
/** A name that samples have: of a histogram those of its parts. */
export type SeriesName = Exclude<MetricName, HistogramName> | Bucket | SumOrCount;

/** What Prometheus puts on every series that it scrapes. */
type ScrapeLabel = 'instance' | 'job';

type MetricOf<S extends SeriesName> =
  S extends `${infer N extends HistogramName}_${'bucket' | 'sum' | 'count'}` ? N : S;
/** Labels of a series. */
export type LabelsOf<S extends SeriesName> =
  | (MetricOf<S> extends infer N extends MetricName ? Metrics[N]['labels'][number] : never)
  | (S extends Bucket ? 'le' : never)
  | ScrapeLabel;

/** How a label is compared with a text; regular expressions match all of a value. */
export interface Match {
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly text: string;
}

export const matching = (text: string): Match => ({ operator: '=~', text });
export const not = (text: string): Match => ({ operator: '!=', text });

/** A text has to be equal. */
export type Matchers<L extends string> = Readonly<Partial<Record<L, string | Match>>>;

declare const LABELS: unique symbol;

interface Part {
  asPart(strength: number): string;
}

/** An expression with a value for each set of labels, of which the type knows the names. */
export class Vector<L extends string> {
  declare readonly [LABELS]: (names: L) => L;

  /** @param strength with which its outermost operator binds: parts that bind less get parentheses */
  constructor(
    readonly text: string,
    private readonly strength = 9,
  ) {}

  over(other: Vector<L> | number): Vector<L> {
    return this.with('/', 5, other);
  }

  times(other: Vector<L> | number): Vector<L> {
    return this.with('*', 5, other);
  }

  plus(other: Vector<L> | number): Vector<L> {
    return this.with('+', 4, other);
  }

  minus(other: Vector<L> | number): Vector<L> {
    return this.with('-', 4, other);
  }

  above(other: Vector<L> | number): Vector<L> {
    return this.with('>', 3, other);
  }

  below(other: Vector<L> | number): Vector<L> {
    return this.with('<', 3, other);
  }

  equals(value: number): Vector<L> {
    return this.with('==', 3, value);
  }

  and(other: Vector<L>): Vector<L> {
    return this.with('and', 2, other);
  }

  or(other: Vector<L>): Vector<L> {
    return this.with('or', 1, other);
  }

  /** What is left of a number. */
  from(whole: number): Vector<L> {
    return new Vector(`${whole} - ${this.asPart(5)}`, 4);
  }

  /** Where several series of this have the same labels `on` as one of the other. */
  overEach<O extends L>(on: readonly O[], other: Vector<O>): Vector<L> {
    return this.with(`/ on (${on.join(', ')}) group_left ()`, 5, other);
  }

  minusEach<O extends L>(on: readonly O[], other: Vector<O>): Vector<L> {
    return this.with(`- on (${on.join(', ')}) group_left ()`, 4, other);
  }

  /** Those of this whose labels `on` a series of the other has. */
  andOn<O extends L, M extends string>(on: readonly (O & M)[], other: Vector<M>): Vector<L> {
    return this.with(`and on (${on.join(', ')})`, 2, other);
  }

  /** As a part of something that binds as strongly as `strength`. */
  asPart(strength: number): string {
    return this.strength < strength ? `(${this.text})` : this.text;
  }

  private with(operator: string, strength: number, other: Part | number): Vector<L> {
    const right = typeof other === 'number' ? String(other) : other.asPart(strength + 1);
    return new Vector(`${this.asPart(strength)} ${operator} ${right}`, strength);
  }
}

/** Of a range, in seconds; or what Grafana puts in its place. */
export type Range = number | '$__rate_interval';

/** As Prometheus writes times, in the largest unit that leaves no rest. */
export function duration(seconds: number): string {
  if (seconds < 1 || seconds % 1 !== 0) return `${Math.round(seconds * 1000)}ms`;
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? ['s', 1];
  return `${seconds / size}${unit}`;
}

/** The present value. */
export function value<S extends SeriesName>(name: S, matchers?: Matchers<LabelsOf<S>>): Vector<LabelsOf<S>> {
  return new Vector(selector(name, matchers));
}

/** Growth a second. */
export function rate<S extends CountedName>(
  name: S,
  range: Range,
  matchers?: Matchers<LabelsOf<S>>,
): Vector<LabelsOf<S>> {
  return ranged('rate', name, range, matchers);
}

/** Growth in the range. */
export function increase<S extends CountedName>(
  name: S,
  range: Range,
  matchers?: Matchers<LabelsOf<S>>,
): Vector<LabelsOf<S>> {
  return ranged('increase', name, range, matchers);
}

/** The least value in the range. */
export function least<S extends Exclude<SeriesName, CountedName>>(
  name: S,
  range: Range,
  matchers?: Matchers<LabelsOf<S>>,
): Vector<LabelsOf<S>> {
  return ranged('min_over_time', name, range, matchers);
}

export function sum<L extends string, B extends L>(by: readonly B[], of: Vector<L>): Vector<B> {
  return aggregated('sum', by, of);
}

export function average<L extends string, B extends L>(by: readonly B[], of: Vector<L>): Vector<B> {
  return aggregated('avg', by, of);
}

export function most<L extends string, B extends L>(by: readonly B[], of: Vector<L>): Vector<B> {
  return aggregated('max', by, of);
}

export function fewest<L extends string, B extends L>(by: readonly B[], of: Vector<L>): Vector<B> {
  return aggregated('min', by, of);
}

/** Of a histogram. @param share 0.99 for the 99th percentile */
export function quantile<N extends HistogramName, B extends LabelsOf<`${N}_bucket`>>(
  share: number,
  by: readonly B[],
  name: N,
  range: Range,
  matchers?: Matchers<LabelsOf<`${N}_bucket`>>,
): Vector<B> {
  const labels = [...by, 'le'].join(', ');
  const counts = ranged('rate', `${name}_bucket`, range, matchers).text;
  return new Vector(`histogram_quantile(${share}, sum by (${labels}) (${counts}))`);
}

/** Of what a histogram observed. */
export function mean<N extends HistogramName, B extends LabelsOf<`${N}_sum`>>(
  by: readonly B[],
  name: N,
  range: Range,
  matchers?: Matchers<LabelsOf<`${N}_sum`>>,
): Vector<B> {
  const part = (of: 'sum' | 'count'): Vector<B> =>
    aggregated('sum', by, ranged('rate', `${name}_${of}`, range, matchers));
  return part('sum').over(part('count'));
}

/** Seconds until a time. */
export function until<L extends string>(timestamp: Vector<L>): Vector<L> {
  return new Vector(`${timestamp.asPart(4)} - time()`, 4);
}

/** Whether Prometheus reaches what it scrapes. */
export function reachable(job: string): Vector<ScrapeLabel> {
  return new Vector(selector('up', { job }));
}

/** How many alerts fire, by their names. */
export function firing(): Vector<'alertname'> {
  return sum(['alertname'], new Vector<'alertname'>(selector('ALERTS', { alertstate: 'firing' })));
}

/** What a recording rule keeps under a name of its own. */
export interface Recorded<L extends string> {
  readonly name: string;
  readonly of: Vector<L>;
  readonly vector: Vector<L>;
}

export function recorded<L extends string>(name: string, of: Vector<L>): Recorded<L> {
  return { name, of, vector: new Vector(name) };
}

function ranged<L extends string>(
  call: string,
  name: string,
  range: Range,
  matchers: Matchers<L> | undefined,
): Vector<L> {
  const length = typeof range === 'number' ? duration(range) : range;
  return new Vector(`${call}(${selector(name, matchers)}[${length}])`);
}

function aggregated<L extends string, B extends L>(
  call: string,
  by: readonly B[],
  { text }: Vector<L>,
): Vector<B> {
  return new Vector(by.length === 0 ? `${call}(${text})` : `${call} by (${by.join(', ')}) (${text})`);
}

function selector(name: string, matchers: Readonly<Partial<Record<string, string | Match>>> = {}): string {
  const parts = Object.entries(matchers).map(([label, match]) => {
    const { operator, text } = typeof match === 'object' ? match : { operator: '=', text: match };
    return `${label}${operator}${JSON.stringify(text)}`;
  });
  return parts.length === 0 ? name : `${name}{${parts.join(',')}}`;
}
