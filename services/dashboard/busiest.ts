/** Of what is counted, half is forgotten after so many points: what was busy a minute ago stays for a while. */
const HALVED_AFTER = 30;
const DECAY = 0.5 ** (1 / HALVED_AFTER);
/** A newcomer has to be so much busier: two of about the same do not take turns. */
const AHEAD = 2;
/** Less than this is nothing. */
const LEAST = 1e-3;

/** Which of many names are recorded: the busiest, so that memory does not depend on how many there are. */
export class Busiest {
  private readonly weights = new Map<string, number>();
  private chosen = new Set<string>();

  constructor(private readonly most: number) {}

  has(name: string): boolean {
    return this.chosen.has(name);
  }

  /** @param activity what each has done in a point's time; names that are not in it have done nothing */
  note(activity: Iterable<readonly [name: string, amount: number]>): void {
    const { weights, chosen } = this;
    for (const [name, weight] of weights) {
      if (weight * DECAY < LEAST) weights.delete(name);
      else weights.set(name, weight * DECAY);
    }
    for (const [name, amount] of activity) weights.set(name, (weights.get(name) ?? 0) + amount);
    const first: (readonly [name: string, rank: number])[] = [];
    for (const [name, weight] of weights) {
      const rank = chosen.has(name) ? weight * AHEAD : weight;
      if (first.length === this.most && rank <= first[first.length - 1][1]) continue;
      const at = first.findIndex(([, other]) => rank > other);
      first.splice(at < 0 ? first.length : at, 0, [name, rank]);
      if (first.length > this.most) first.pop();
    }
    this.chosen = new Set(first.map(([name]) => name));
  }
}
