import type { Command } from 'commander';
import { pino, stdSerializers } from 'pino';
import { EmbeddedServer, type DrainTimes } from '../main.js';
import type { Complaint } from '../errors/index.js';
import { openTracing, tracingSettings } from '../tracing/index.js';
import { banner } from './banner.js';
import { holdBuild } from './buildLock.js';
import type { ServeOptions } from './serveCommand.js';
import { dataDirectory, servePlan } from './servePlan.js';
import { warnOfPasswords } from './shownSecrets.js';
import { stopSignal } from './stopSignal.js';

/** Serves until SIGINT or SIGTERM, then drains. @param command which has the options, and knows where from */
export async function serve(options: ServeOptions, command: Command): Promise<void> {
  // Without them an error under another name than `err` would be written as {}.
  const serializers = { cause: stdSerializers.err, error: stdSerializers.err };
  const log = pino({ level: options.logLevel, base: null, serializers }, pino.destination(2));
  holdBuild();
  const tracing = tracingSettings(process.env, options.otlpEndpoint);
  const complain: Complaint = (message, details) => log.warn(details, message);
  const stopped = stopSignal();
  warnOfPasswords(command, complain);
  const { settings, storeText } = await servePlan(options, process.env, complain);
  const server = await EmbeddedServer.start({
    ...settings,
    complain,
    announce: (message, details) => log.info(details, message),
    stopped,
    tracing: tracing === undefined ? undefined : await openTracing(tracing, complain),
  });
  process.stdout.write(banner(server, dataDirectory(options), storeText));
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

/** Who sends SIGTERM routes queries here, and needs a moment to hear that this ends; Ctrl-C waits for nobody. */
const SIGTERM_NOTICE_MS = 1000;
/** Queries that come all the same are told so, for a moment after the last answer. */
const REFUSAL_MS = 250;
