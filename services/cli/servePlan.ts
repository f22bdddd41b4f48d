import type { Complaint } from '../errors/index.js';
import { DEFAULT_BUFFERED_BYTES, type ConnectionTimeouts } from '../http/index.js';
import type { EmbeddedOptions } from '../main.js';
import { CommandError } from './commandError.js';
import { dialledNodes, joinedCluster } from './dialledNodes.js';
import { checkedFaults } from './faultOptions.js';
import { checkedCards } from './gpusOption.js';
import { checkedScheduling } from './schedulingOption.js';
import type { ServeOptions } from './serveCommand.js';
import { accessSettings, tlsSettings } from './serveSecurity.js';
import { sharedStore } from './storeOption.js';

const MIB = 1024 * 1024;

/** What a server is started with. */
export interface ServePlan {
  readonly settings: Omit<EmbeddedOptions, 'complain' | 'announce' | 'stopped' | 'tracing'>;
  /** For people: where its state is, if that is shared. */
  readonly storeText: string | undefined;
}

/**
 * What options of `serve` come to; nothing is started or reached.
 * @throws CommandError, RedisError, LinkError (as rejections) naming options that do not go together or cannot be used
 */
export async function servePlan(
  options: ServeOptions,
  environment: NodeJS.ProcessEnv,
  complain: Complaint,
): Promise<ServePlan> {
  // Told at once what is wrong with it, and not by the thread that it is for.
  await checkedScheduling('--scheduling', options.scheduling);
  const shared = await sharedStore(options, environment, complain);
  const settings: ServePlan['settings'] = {
    host: options.host,
    port: options.port,
    managementHost: options.managementHost,
    managementPort: options.managementPort,
    clipper: clipperOption(options),
    dataDirectory: dataDirectory(options),
    openSharedStore: shared?.open,
    openFeedbackQueue: shared?.openFeedbackQueue,
    openJobQueue: shared?.openJobQueue,
    openSharedBundles: shared?.openSharedBundles,
    seed: options.seed,
    cacheBytes: options.cacheMib * MIB,
    contexts: { memoryBytes: options.contextMemoryMib * MIB, most: options.maxContexts },
    jobsBytes: options.jobsMib * MIB,
    gpus: await checkedCards('--gpus', options.gpus),
    nodes: options.nodes,
    gpuThreads: options.gpuThreads,
    dialled: dialledNodes(options),
    cluster: joinedCluster(options, shared, complain),
    scheduling: options.scheduling,
    faults: await checkedFaults(options),
    hangWatchdog: options.hangAfterMs === 0 ? false : { minimumMs: options.hangAfterMs },
    maxBodyBytes: options.maxBodyMib * MIB,
    maxMessageBytes: options.maxMessageMib === undefined ? undefined : options.maxMessageMib * MIB,
    maxBufferedBytes: bufferedBytes(options),
    maxBatchInputs: options.maxBatchInputs,
    timeouts: timeoutsOf(options),
    allowedOrigins: options.allowOrigin,
    isRepositoryControlled: options.v2RepositoryControl === true,
    withDefaults: options.defaults,
    access: accessSettings(options, environment),
    tls: tlsSettings(options),
    maxConnections: options.maxConnections,
    maxWebSockets: options.maxWebsockets,
  };
  return { settings, storeText: shared?.where };
}

/** @throws CommandError where what is said of the port comes without it */
export function clipperOption(options: ServeOptions): EmbeddedOptions['clipper'] {
  const { clipperPort: port, clipperHost, clipperMaxContainers, clipperMaxMessageMib } = options;
  if (port === undefined) {
    const [alone] = [
      ...(clipperHost === undefined ? [] : ['--clipper-host']),
      ...(clipperMaxContainers === undefined ? [] : ['--clipper-max-containers']),
      ...(clipperMaxMessageMib === undefined ? [] : ['--clipper-max-message-mib']),
    ];
    if (alone === undefined) return undefined;
    throw new CommandError(`${alone} needs --clipper-port beside it: no container dials in without`);
  }
  return {
    host: clipperHost ?? '127.0.0.1',
    port,
    maxContainers: clipperMaxContainers,
    maxMessageBytes: clipperMaxMessageMib === undefined ? undefined : clipperMaxMessageMib * MIB,
  };
}

/** @throws CommandError */
function bufferedBytes({ maxBodyMib, maxBufferedMib }: ServeOptions): number {
  if (maxBufferedMib === undefined) return Math.max(DEFAULT_BUFFERED_BYTES, maxBodyMib * MIB);
  if (maxBufferedMib >= maxBodyMib) return maxBufferedMib * MIB;
  throw new CommandError(
    `--max-buffered-mib ${maxBufferedMib} is less than --max-body-mib ${maxBodyMib}: the largest body would never fit`,
  );
}

/** @throws CommandError */
function timeoutsOf(options: ServeOptions): ConnectionTimeouts {
  const {
    headersTimeoutMs: headersMs,
    requestTimeoutMs: requestMs,
    keepAliveTimeoutMs: keepAliveMs,
  } = options;
  if (headersMs > requestMs) {
    throw new CommandError(
      `--headers-timeout-ms ${headersMs} is longer than --request-timeout-ms ${requestMs}, which holds for headers and body`,
    );
  }
  return { headersMs, requestMs, keepAliveMs };
}

/** Undefined: nothing is kept. */
export function dataDirectory({ ephemeral, dataDir }: ServeOptions): string | undefined {
  return ephemeral === true ? undefined : dataDir;
}
