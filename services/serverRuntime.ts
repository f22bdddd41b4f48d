import { join } from 'node:path';
import { BundleDesk } from './bundles/index.js';
import { ANALYSES_FOLDER, EmbeddedRuntime, type ServerRuntime } from './deployment/index.js';
import type { EmbeddedOptions } from './embeddedOptions.js';
import type { ClusterRuntime, ClusterRuntimeOptions } from './placement/index.js';

/** What containers run on. */
export interface MadeRuntime {
  readonly runtime: ServerRuntime;
  /** The same, where it is the nodes of a cluster. */
  readonly cluster?: ClusterRuntime;
  /** Files of models that clients have sent. */
  readonly bundles: BundleDesk;
  /** Of the connection to where servers share those. */
  readonly closeBundles?: () => void;
}

type Shared = Pick<ClusterRuntimeOptions, 'clock' | 'registry' | 'store' | 'frontend'>;

/** Nodes in threads and those that are dialled, or those of a cluster. @throws RedisError, BundleError (as rejections) */
export async function makeRuntime(options: EmbeddedOptions, at: Shared): Promise<MadeRuntime> {
  const { dataDirectory, gpus, nodes, gpuThreads, scheduling, dialled, faults, complain } = options;
  const cluster = options.cluster && (await makeCluster(options.cluster, at, complain));
  const deskOptions = { dataDirectory, models: () => at.registry.models(), complain };
  if (cluster !== undefined) {
    const bundles = new BundleDesk({ ...deskOptions, shared: cluster.bundles, isCollected: true });
    return { runtime: cluster, cluster, bundles };
  }
  const shared = await options.openSharedBundles?.();
  const bundles = new BundleDesk({ ...deskOptions, shared: shared?.bundles });
  await bundles.clean();
  const runtime = new EmbeddedRuntime({
    clock: at.clock,
    gpus,
    nodes,
    gpuThreads,
    scheduling,
    dialled,
    analysisDirectory: dataDirectory === undefined ? undefined : join(dataDirectory, ANALYSES_FOLDER),
    faults,
    onNotice: complain,
    starting: (plain) => bundles.starting(plain),
  });
  return { runtime, bundles, ...(shared === undefined ? {} : { closeBundles: shared.close }) };
}

/** Loaded when it is asked for: a server that is alone starts without a client of Redis. */
async function makeCluster(
  { open, prefix: name, bundleFolder, key, tls }: NonNullable<EmbeddedOptions['cluster']>,
  at: Shared,
  onNotice: EmbeddedOptions['complain'],
): Promise<ClusterRuntime> {
  const [{ ClusterRuntime }, { openBundles }, { keyPrefix }] = await Promise.all([
    import('./placement/index.js'),
    import('./bundles/index.js'),
    import('./redis/index.js'),
  ]);
  const prefix = keyPrefix(name);
  const redis = await open();
  return new ClusterRuntime({
    ...at,
    redis,
    prefix,
    bundles: await openBundles(redis, prefix, bundleFolder),
    key,
    tls,
    onNotice,
  });
}
