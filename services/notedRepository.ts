import type { ModelLoader } from './deployment/index.js';
import { authorOf, type EventLog } from './events/index.js';
import type { ModelRepository } from './frontend/index.js';
import type { Registry } from './registry/index.js';

/** Loading and unloading by clients of the query interface, which are changes like those of management. */
export function notedRepository(loader: ModelLoader, registry: Registry, events: EventLog): ModelRepository {
  const scales = (model: string) =>
    Object.fromEntries(
      registry
        .models()
        .filter(({ name }) => name === model)
        .map(({ version }) => [version, registry.scale(model, version)]),
    );
  const noted =
    (verb: 'load' | 'unload'): ModelRepository['load'] =>
    async (model, key) => {
      const before = scales(model);
      try {
        await loader[verb](model);
      } finally {
        // One that does not come up is to run all the same.
        const after = scales(model);
        if (JSON.stringify(after) !== JSON.stringify(before)) {
          events.note(authorOf(key), { verb, about: { model }, before, after });
        }
      }
    };
  return {
    state: (name, version) => loader.state(name, version),
    isLoaded: (name, version) => loader.isLoaded(name, version),
    load: noted('load'),
    unload: noted('unload'),
  };
}
