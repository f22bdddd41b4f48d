/** Told of what must not happen. */
export interface ViolationSink {
  add(kind: string, example: string): void;
}

/** What must not happen, by kind, with the first few of each told whole. */
export class Violations implements ViolationSink {
  private readonly kinds = new Map<string, { count: number; readonly examples: string[] }>();

  /** @param moment written before each example */
  constructor(private readonly moment: () => string = () => '') {}

  add(kind: string, example: string): void {
    let entry = this.kinds.get(kind);
    if (entry === undefined) this.kinds.set(kind, (entry = { count: 0, examples: [] }));
    entry.count += 1;
    if (entry.examples.length < EXAMPLES)
      entry.examples.push(this.moment() + example.slice(0, EXAMPLE_LENGTH));
  }

  get count(): number {
    let count = 0;
    for (const entry of this.kinds.values()) count += entry.count;
    return count;
  }

  list(): { readonly kind: string; readonly count: number; readonly examples: readonly string[] }[] {
    return [...this.kinds].map(([kind, { count, examples }]) => ({ kind, count, examples }));
  }
}

const EXAMPLES = 5;
const EXAMPLE_LENGTH = 400;
