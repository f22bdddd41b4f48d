import type { Registry } from '../registry/index.js';
import type { OthersLoad } from './spareRoom.js';

/** All queries of an application, or the lines of jobs among them. */
export type LoadOf = (application: string) => OthersLoad | undefined;

/** What other processes ask of the models that this one asks, too. */
export interface LoadElsewhere {
  /** Processes that have queries for one of these applications; one that is not heard of counts. */
  busy(applications: ReadonlySet<string>): number;
  /** Processes whose jobs have lines for one of them. */
  asking(applications: ReadonlySet<string>): number;
}

/** Queries, but for lines of jobs, of every application that asks a model which this one asks, too. */
export function othersLoad(
  registry: Pick<Registry, 'applications' | 'linkedNames'>,
  all: LoadOf,
  lines: LoadOf,
  elsewhere?: LoadElsewhere,
): (application: string) => OthersLoad {
  return (application) => {
    const models = new Set(registry.linkedNames(application));
    const sharing = new Set([application]);
    for (const { name } of registry.applications())
      if (registry.linkedNames(name).some((model) => models.has(model))) sharing.add(name);
    let [inFlight, taken] = [0, 0];
    for (const name of sharing) {
      const load = interactiveLoad(all(name), lines(name));
      inFlight += load.inFlight;
      taken += load.taken;
    }
    if (elsewhere === undefined) return { inFlight, taken };
    return {
      inFlight: inFlight + elsewhere.busy(sharing),
      taken,
      sharers: 1 + elsewhere.asking(sharing),
    };
  };
}

/** What is left of all queries of an application without the lines of jobs. */
export function interactiveLoad(
  all: OthersLoad | undefined,
  lines: OthersLoad | undefined,
): Pick<OthersLoad, 'inFlight' | 'taken'> {
  return {
    inFlight: (all?.inFlight ?? 0) - (lines?.inFlight ?? 0),
    taken: (all?.taken ?? 0) - (lines?.taken ?? 0),
  };
}
