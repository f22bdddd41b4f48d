import { pino, stdSerializers } from 'pino';
import { EmbeddedServer, type DrainTimes } from '../main.js';
import type { Complaint } from '../errors/index.js';
import { openTracing, tracingSettings } from '../tracing/index.js';
import { DEFAULT_BUFFERED_BYTES, type ConnectionTimeouts } from '../http/index.js';
import { banner } from './banner.js';
import { holdBuild } from './buildLock.js';
import { dialledNodes, joinedCluster } from './dialledNodes.js';
import { CommandError } from './commandError.js';
import { checkedFaults } from './faultOptions.js';
import { checkedCards } from './gpusOption.js';
import { checkedScheduling } from './schedulingOption.js';
import type { ServeOptions } from './serveCommand.js';
import { sharedStore } from './storeOption.js';
import { accessSettings, tlsSettings } from './serveSecurity.js';
import { stopSignal } from './stopSignal.js';

const MIB = 1024 * 1024;

/** Serves until SIGINT or SIGTERM, then drains. */
export async function serve(options: ServeOptions): Promise<void> {
  // Without them an error under another name than `err` would be written as {}.
  const serializers = { cause: stdSerializers.err, error: stdSerializers.err };
  const log = pino({ level: options.logLevel, base: null, serializers }, pino.destination(2));
  const dataDirectory = options.ephemeral === true ? undefined : options.dataDir;
  holdBuild();
  const tracing = tracingSettings(process.env, options.otlpEndpoint);
  const complain: Complaint = (message, details) => log.warn(details, message);
  const stopped = stopSignal();
  // Told at once what is wrong with it, and not by the thread that it is for.
  await checkedScheduling('--scheduling', options.scheduling);
  const shared = await sharedStore(options, process.env, complain);
  const server = await EmbeddedServer.start({
    host: options.host,
    port: options.port,
    managementHost: options.managementHost,
    managementPort: options.managementPort,
    dataDirectory,
    openSharedStore: shared?.open,
    openFeedbackQueue: shared?.openFeedbackQueue,
    seed: options.seed,
    cacheBytes: options.cacheMib * MIB,
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
    access: accessSettings(options, process.env),
    tls: tlsSettings(options),
    maxConnections: options.maxConnections,
    maxWebSockets: options.maxWebsockets,
    complain,
    stopped,
    tracing: tracing === undefined ? undefined : await openTracing(tracing, complain),
  });
  process.stdout.write(banner(server, dataDirectory, shared?.where));
  // As servers with certificates do; one without them ends with its terminal.
  if (server.secure.query || server.secure.management)
    process.on('SIGHUP', () => server.reloadCertificates());
  const signal = await stopped;
  process.stdout.write('Draining; again to stop at once.\n');
  const times: DrainTimes = {
    noticeMs: options.drainNoticeMs ?? (signal === 'SIGTERM' ? SIGTERM_NOTICE_MS : 0),
    graceMs: options.drainGraceMs,
    refusalMs: REFUSAL_MS,
  };
  await server.stop(times);
  process.stdout.write('Stopped.\n');
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

/** Who sends SIGTERM routes queries here, and needs a moment to hear that this ends; Ctrl-C waits for nobody. */
const SIGTERM_NOTICE_MS = 1000;
/** Queries that come all the same are told so, for a moment after the last answer. */
const REFUSAL_MS = 250;
