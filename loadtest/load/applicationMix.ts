import { KeyedDraw } from '../../selection/index.js';
import { LoadError, type Arrival } from '../trace/index.js';
import type { AskedApplication } from './loadPlan.js';

/** Which application a query asks: the one that its trace names, or one by weight. */
export class ApplicationMix {
  private readonly byName: ReadonlyMap<string, AskedApplication>;
  private readonly draw: KeyedDraw;
  private readonly weight: number;

  constructor(
    private readonly applications: readonly AskedApplication[],
    seed: number,
  ) {
    this.byName = new Map(applications.map((one) => [one.name, one]));
    this.draw = new KeyedDraw(seed);
    this.weight = applications.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** @throws LoadError naming the arrival */
  of({ application, group, where }: Arrival, number: number): AskedApplication {
    if (application !== undefined) {
      const found = this.byName.get(application);
      if (found !== undefined) return found;
      const names = [...this.byName.keys()].join(', ');
      throw new LoadError(where, `application '${application}' is not asked: it must be one of ${names}`);
    }
    if (group !== undefined) return this.applications[group];
    if (this.applications.length === 1) return this.applications[0];
    return this.applications[this.drawn(`application ${number}`)];
  }

  /** The place of an application, by weight; the same for the same key. */
  drawn(key: string): number {
    let left = this.draw.of(key)() * this.weight;
    const at = this.applications.findIndex(({ weight }) => (left -= weight) < 0);
    return at < 0 ? this.applications.length - 1 : at;
  }
}
