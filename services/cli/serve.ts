import type { Command } from 'commander';
import { EmbeddedServer, type DrainTimes } from '../main.js';
import { openTracing, tracingSettings } from '../tracing/index.js';
import { banner } from './banner.js';
import { holdBuild } from './buildLock.js';
import type { ServeOptions } from './serveCommand.js';
import { openLog } from './processLog.js';
import { dataDirectory, servePlan } from './servePlan.js';
import { warnOfPasswords } from './shownSecrets.js';
import { stopSignal } from './stopSignal.js';

/** Serves until SIGINT or SIGTERM, then drains. @param command which has the options, and knows where from */
export async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { complain, announce, reopen } = openLog(options);
  holdBuild();
  const tracing = tracingSettings(process.env, options.otlpEndpoint);
  const stopped = stopSignal();
  warnOfPasswords(command, complain);
  const { settings, storeText } = await servePlan(options, process.env, complain);
  const server = await EmbeddedServer.start({
    ...settings,
    complain,
    announce,
    stopped,
    tracing: tracing === undefined ? undefined : await openTracing(tracing, complain),
  });
  // As servers with certificates or a log file do, before anybody hears that it is there; one without them ends with its terminal.
  if (server.secure.query || server.secure.management || options.logFile !== undefined) {
    process.on('SIGHUP', () => {
      reopen();
      server.reloadCertificates();
    });
  }
  process.stdout.write(banner(server, dataDirectory(options), storeText));
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
