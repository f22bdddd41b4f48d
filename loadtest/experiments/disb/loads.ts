import { KeyedDraw } from '../../../selection/index.js';
import type { Workload } from './workload.js';

/** Arrivals of a task in nanoseconds from the start, endless unless its trace ends; undefined: the next request when one is over. */
export type Arrivals = Iterator<number> | undefined;

/**
 * Arrivals of each task. Periodic tasks of one frequency and priority start at different times, so that they do not collide, as
 * in DISB.
 */
export function arrivalsOf({ tasks }: Workload, seed: number): Arrivals[] {
  return tasks.map(({ id, load }) => {
    switch (load.type) {
      case 'continuous':
        return undefined;
      case 'trace':
        return load.trace.map((ms) => ms * 1e6).values();
      case 'poisson':
        return poisson(load.frequency, new KeyedDraw(seed).of(`arrivals ${id}`));
      case 'periodic': {
        const alike = tasks.filter(
          ({ load: other }) =>
            other.type === 'periodic' &&
            other.frequency === load.frequency &&
            other.priority === load.priority,
        );
        const place = alike.findIndex((task) => task.id === id);
        const periodNs = 1e9 / load.frequency;
        return periodic(periodNs, (place * periodNs) / alike.length);
      }
    }
  });
}

function* periodic(periodNs: number, fromNs: number): Generator<number> {
  for (let number = 0; ; number++) yield fromNs + number * periodNs;
}

function* poisson(perSecond: number, draw: () => number): Generator<number> {
  for (let at = 0; ;) {
    at -= (Math.log(1 - draw()) * 1e9) / perSecond;
    yield at;
  }
}
