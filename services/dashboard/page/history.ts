type Value = number | null;

/** Points that a chart shows: two minutes at two a second. */
export const HISTORY_POINTS = 240;

/** The last so many points of series that come and go by name, as columns of equal length. */
export class History {
  readonly times: number[] = [];
  private readonly columns = new Map<string, Value[]>();

  constructor(
    private readonly points: number = HISTORY_POINTS,
    private readonly mostSeries: number = 8,
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

  clear(): void {
    this.times.length = 0;
    this.columns.clear();
  }
}
