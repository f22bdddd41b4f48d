import { pino } from 'pino';
import { EmbeddedServer, type DrainTimes } from '../main.js';
import type { Complaint } from '../telemetry/index.js';
import { openTracing, tracingSettings } from '../tracing/index.js';
import { banner } from './banner.js';
import type { ServeOptions } from './serveCommand.js';

const MIB = 1024 * 1024;

/** Serves until SIGINT or SIGTERM, then drains. */
export async function serve(options: ServeOptions): Promise<void> {
  const log = pino({ level: options.logLevel, base: undefined }, pino.destination(2));
  const dataDirectory = options.ephemeral === true ? undefined : options.dataDir;
  const tracing = tracingSettings(process.env, options.otlpEndpoint);
  const complain: Complaint = (message, details) => log.warn(details, message);
  const stopped = stopSignal();
  const server = await EmbeddedServer.start({
    host: options.host,
    port: options.port,
    managementHost: options.managementHost,
    managementPort: options.managementPort,
    dataDirectory,
    seed: options.seed,
    cacheBytes: options.cacheMib * MIB,
    maxBodyBytes: options.maxBodyMib * MIB,
    allowedOrigins: options.allowOrigin,
    withDefaults: options.defaults,
    complain,
    tracing: tracing === undefined ? undefined : await openTracing(tracing, complain),
  });
  process.stdout.write(banner(server, dataDirectory));
  await stopped;
  process.stdout.write('Draining; again to stop at once.\n');
  const times: DrainTimes = { noticeMs: options.drainNoticeMs, graceMs: options.drainGraceMs };
  await server.stop(times);
  process.stdout.write('Stopped.\n');
}

/** Under npm one Ctrl-C arrives twice: the terminal signals every process, and npm passes its own on. */
const SAME_SIGNAL_MS = 500;

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process with 130. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      const nowMs = performance.now();
      if (firstMs !== undefined && nowMs - firstMs > SAME_SIGNAL_MS) process.exit(130);
      firstMs ??= nowMs;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
