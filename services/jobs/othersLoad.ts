import type { Registry } from '../registry/index.js';
import type { OthersLoad } from './spareRoom.js';

/** All queries of an application, or the lines of jobs among them. */
export type LoadOf = (application: string) => OthersLoad | undefined;

/** Queries, but for lines of jobs, of every application that asks a model which this one asks, too. */
export function othersLoad(
  registry: Pick<Registry, 'applications' | 'linkedNames'>,
  all: LoadOf,
  lines: LoadOf,
): (application: string) => OthersLoad {
  return (application) => {
    const models = new Set(registry.linkedNames(application));
    let [inFlight, taken] = [0, 0];
    for (const { name } of registry.applications()) {
      if (name !== application && !registry.linkedNames(name).some((model) => models.has(model))) continue;
      const [theirs, ours] = [all(name), lines(name)];
      inFlight += (theirs?.inFlight ?? 0) - (ours?.inFlight ?? 0);
      taken += (theirs?.taken ?? 0) - (ours?.taken ?? 0);
    }
    return { inFlight, taken };
  };
}
