import { join } from 'node:path';
import { FolderBundles, RedisBundles } from './bundles/index.js';
import { EmbeddedRuntime, type ServerRuntime } from './deployment/index.js';
import type { EmbeddedOptions } from './embeddedOptions.js';
import { ClusterRuntime, type ClusterRuntimeOptions } from './placement/index.js';
import { keyPrefix } from './redis/index.js';

/** Of the data directory, where analyses of kernels are kept. */
const ANALYSES_FOLDER = 'analyses';

/** What containers run on: nodes in threads and those that are dialled, or those of a cluster. @throws RedisError (as a rejection) */
export async function makeRuntime(
  options: EmbeddedOptions,
  at: Pick<ClusterRuntimeOptions, 'clock' | 'registry' | 'store' | 'frontend'>,
): Promise<ServerRuntime> {
  const { cluster, dataDirectory, gpus, nodes, gpuThreads, scheduling, dialled, faults, complain } = options;
  if (cluster !== undefined) {
    const { key, tls } = cluster;
    const prefix = keyPrefix(cluster.prefix);
    const redis = await cluster.open();
    const { bundleFolder } = cluster;
    const bundles =
      bundleFolder === undefined ? new RedisBundles(redis, prefix) : new FolderBundles(bundleFolder);
    return new ClusterRuntime({ ...at, redis, prefix, bundles, key, tls, onNotice: complain });
  }
  return new EmbeddedRuntime({
    clock: at.clock,
    gpus,
    nodes,
    gpuThreads,
    scheduling,
    dialled,
    analysisDirectory: dataDirectory === undefined ? undefined : join(dataDirectory, ANALYSES_FOLDER),
    faults,
    onNotice: complain,
  });
}
