import { z } from 'zod';
import { ServiceError } from '../errors/index.js';
import { StoreError, type SharedStore } from '../store/index.js';
import { verb, type AdminVerb } from './verb.js';

/** What several frontends share. */
export interface ClusterSources {
  /** Absent where the store belongs to this server alone. */
  readonly sharedStore?: Pick<SharedStore, 'repair'> | undefined;
}

export function clusterVerbs({ sharedStore }: ClusterSources): AdminVerb[] {
  return [
    verb('repair_store', {
      summary:
        'Make what this frontend knows the truth, after the shared store has lost changes; the other frontends load it',
      request: z.strictObject({}),
      errors: ['no_repair_needed', 'store_failed'],
      run: async () => {
        if (sharedStore === undefined) {
          throw new ServiceError('no_repair_needed', 'the store of this server is its own: it is not shared');
        }
        try {
          await sharedStore.repair();
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          throw new ServiceError(
            error.code === 'notBehind' ? 'no_repair_needed' : 'store_failed',
            error.message,
          );
        }
        return 'Success! What this frontend knows is the state of all.';
      },
    }),
  ];
}
