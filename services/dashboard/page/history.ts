type Value = number | null;

/** A series as it travels: its chart, its name, its values. Neither is a key of anything, whatever they are called. */
export type Column = readonly [chart: string, name: string, values: readonly Value[]];

/** The last so many points of series that come and go by name, as columns of equal length. */
export class History {
  readonly times: number[] = [];
  private readonly columns = new Map<string, Value[]>();

  constructor(
    private readonly points: number,
    private readonly mostSeries = Infinity,
  ) {}

  get names(): readonly string[] {
    return [...this.columns.keys()];
  }

  column(name: string): readonly Value[] {
    return this.columns.get(name) ?? [];
  }

  last(name: string): Value {
    return this.columns.get(name)?.at(-1) ?? null;
  }

  /**
   * Adds a point; a series without a value has a gap there. Series beyond the limit are left out, and one that has nothing
   * but gaps any more makes room.
   * @returns whether the set of series changed.
   */
  push(time: number, values: ReadonlyMap<string, Value>): boolean {
    this.times.push(time);
    if (this.times.length > this.points) this.times.shift();
    let changed = false;
    for (const [name, column] of this.columns) {
      column.push(values.get(name) ?? null);
      if (column.length > this.points) column.shift();
      if (!values.has(name) && column.every((value) => value === null)) {
        this.columns.delete(name);
        changed = true;
      }
    }
    for (const [name, value] of values) {
      if (this.columns.has(name) || this.columns.size >= this.mostSeries) continue;
      const column = new Array<Value>(this.times.length - 1).fill(null);
      column.push(value);
      this.columns.set(name, column);
      changed = true;
    }
    return changed;
  }

  /** Drops the series of which nothing is wanted any more. */
  keep(isWanted: (name: string) => boolean): void {
    for (const name of this.columns.keys()) if (!isWanted(name)) this.columns.delete(name);
  }

  /** Begins with what somebody else has recorded. */
  load(times: readonly number[], columns: Iterable<readonly [string, readonly Value[]]>): void {
    this.clear();
    this.times.push(...times);
    for (const [name, values] of columns) {
      if (this.columns.size < this.mostSeries) this.columns.set(name, [...values]);
    }
  }

  clear(): void {
    this.times.length = 0;
    this.columns.clear();
  }
}
