import { BUILT_IN_MODELS, builtInModelPath } from '../../containers/models/index.js';
import { ServiceError, type ErrorCode } from '../errors/index.js';
import type { Registry } from '../registry/index.js';
import { storeKey, type Store } from '../store/index.js';
import { modelRecord } from './modelRegistration.js';
import { CONSTANT_CONTAINER, KERNEL_MODEL_CONTAINER } from './schemas.js';

/** Set once the defaults are registered: an application that its owner deleted later does not come back. */
const MARKER = storeKey('setup', 'defaults');

/**
 * What a fresh data directory serves: `digits`, five real models among which Exp3 chooses, and `noop`, the yardstick of
 * serving overhead. Each step may be repeated: a start that was killed half-way is completed by the next.
 * @param cards of the GPUs, where models are to be told which of them cannot hold them
 */
export async function registerDefaults(
  store: Store,
  registry: Registry,
  cards: readonly string[] = [],
): Promise<void> {
  if (store.get(MARKER) !== undefined) return;
  await unless('application_exists', () =>
    registry.addApplication({
      name: 'digits',
      inputType: 'floats',
      defaultOutput: '-1',
      latencyObjectiveUs: 100_000,
      policy: { name: 'exp3', parameters: {} },
    }),
  );
  for (const name of BUILT_IN_MODELS) {
    await unless('model_exists', () =>
      registry.addModel(
        modelRecord(
          {
            model_name: name,
            model_version: '1',
            input_type: 'floats',
            labels: [],
            container_name: KERNEL_MODEL_CONTAINER,
            model_data_path: builtInModelPath(name),
            batch_size: -1,
          },
          cards,
        ),
      ),
    );
    await link(registry, 'digits', name);
  }
  await unless('application_exists', () =>
    registry.addApplication({
      name: 'noop',
      inputType: 'doubles',
      defaultOutput: '-1',
      latencyObjectiveUs: 100_000,
      policy: { name: 'static', parameters: {} },
    }),
  );
  await unless('model_exists', () =>
    registry.addModel(
      modelRecord({
        model_name: 'noop',
        model_version: '1',
        input_type: 'doubles',
        labels: [],
        container_name: CONSTANT_CONTAINER,
        model_data_path: '',
        output: '0',
        batch_size: -1,
      }),
    ),
  );
  await link(registry, 'noop', 'noop');
  await new Promise<void>((resolve) => store.set(MARKER, true, 'any', () => resolve()));
}

/** The kinds of cards, where there are several: only then is it worth the time to find out which of them hold a model. */
export function choiceOf(cards: readonly string[]): readonly string[] {
  const kinds = [...new Set(cards)];
  return kinds.length > 1 ? kinds : [];
}

/** By then another frontend has written all of a model that it registers. */
const LONGEST_WRITE_MS = 5000;
const LOOK_AGAIN_MS = 20;

/** Another frontend that starts at the same time changes the same list, and may have written a model without saying yet which version is current. */
async function link(registry: Registry, application: string, model: string): Promise<void> {
  const endMs = performance.now() + LONGEST_WRITE_MS;
  for (;;) {
    try {
      await unless('link_exists', () => registry.addLinks(application, [model]));
      return;
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : undefined;
      const isAhead = code === 'unknown_model' && performance.now() < endMs;
      if (code !== 'concurrent_change' && !isAhead) throw error;
      if (isAhead) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

async function unless(code: ErrorCode, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === code)) throw error;
  }
}
