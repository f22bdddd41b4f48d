import { z } from 'zod';
import { ServiceError } from '../errors/index.js';
import { StoreError, type SharedStore } from '../store/index.js';
import { verb, type AdminVerb } from './verb.js';

/** What several frontends share. */
export interface ClusterSources {
  /** Absent where the store belongs to this server alone. */
  readonly sharedStore?: Pick<SharedStore, 'repair'> | undefined;
  /** Absent where this server runs its models itself. */
  readonly cluster?: ClusterView | undefined;
}

/** The processes of a cluster, as this frontend sees them. */
export interface ClusterView {
  status(): ClusterAnswer;
  /** Replicas leave the node, or may be placed on it again. @returns whether the store has kept it */
  cordon(node: string, isCordoned: boolean): Promise<boolean>;
}

const lastWord = z
  .number()
  .describe('How long ago the cluster heard of it, in seconds; while Redis is away that grows for all');

const clusterStatusSchema = z.object({
  frontends: z.array(
    z.object({
      name: z.string(),
      query: z.string().describe('Address of its query interface'),
      management: z.string(),
      placing: z
        .boolean()
        .describe('It says which node runs which replica; of others half a second late, or a little more'),
      alive: z.boolean(),
      last_word_seconds: lastWord,
    }),
  ),
  nodes: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      gpus: z.array(z.string()).readonly(),
      alive: z.boolean().describe('The cluster hears of it'),
      last_word_seconds: lastWord,
      connected: z.boolean().describe('The frontend that is asked has a connection to it'),
      problem: z.string().optional().describe('Why it has none'),
      round_trip_seconds: z.number().optional().describe('Of the last ping on that connection'),
      cordoned: z.boolean().describe('Its replicas have been moved away, and it gets no others'),
      replicas: z.int().describe('That are placed on it'),
    }),
  ),
});

export type ClusterAnswer = z.output<typeof clusterStatusSchema>;

const NODE = z.strictObject({ node: z.string().min(1).max(100) });

export function clusterVerbs({ sharedStore, cluster }: ClusterSources): AdminVerb[] {
  const cordon = async (node: string, isCordoned: boolean): Promise<void> => {
    const view = viewOf(cluster);
    const names = view.status().nodes.map(({ name }) => name);
    if (!names.includes(node)) {
      const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
      throw new ServiceError('unknown_node', `the cluster has no node '${node}': ${there}`, 'node');
    }
    if (!(await view.cordon(node, isCordoned))) {
      throw new ServiceError(
        'store_failed',
        'the change is not made: the shared store does not keep it at present',
      );
    }
  };
  const cordoning = {
    about: ({ node }: z.infer<typeof NODE>) => ({ node }),
    state: ({ node }: z.infer<typeof NODE>) => {
      const found = cluster?.status().nodes.find(({ name }) => name === node);
      return found && { cordoned: found.cordoned };
    },
  };
  return [
    verb('cluster_status', {
      summary: 'Frontends and nodes of the cluster, as this frontend sees them',
      request: z.strictObject({}),
      answer: clusterStatusSchema,
      errors: ['not_a_cluster'],
      changes: 'nothing',
      run: () => viewOf(cluster).status(),
    }),
    verb('drain_node', {
      summary: 'Place no replicas on a node, and those that it has on others',
      request: NODE,
      errors: ['not_a_cluster', 'unknown_node', 'store_failed'],
      changes: cordoning,
      run: async ({ node }) => {
        await cordon(node, true);
        return `Success! Node '${node}' gets no replicas; those that it has are placed on others.`;
      },
    }),
    verb('undrain_node', {
      summary: 'Place replicas on a node again',
      request: NODE,
      errors: ['not_a_cluster', 'unknown_node', 'store_failed'],
      changes: cordoning,
      run: async ({ node }) => {
        await cordon(node, false);
        return `Success! Node '${node}' takes replicas again.`;
      },
    }),
    verb('repair_store', {
      summary:
        'Make what this frontend knows the truth, after the shared store has lost changes; the other frontends load it',
      request: z.strictObject({}),
      errors: ['no_repair_needed', 'store_failed'],
      changes: { about: () => ({}), needsCurrent: false },
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

/** @throws ServiceError `not_a_cluster` */
function viewOf(cluster: ClusterView | undefined): ClusterView {
  if (cluster !== undefined) return cluster;
  throw new ServiceError(
    'not_a_cluster',
    'this server runs its models itself: start it with --store redis://HOST --only-nodes, and nodes with windjammer node --join',
  );
}
