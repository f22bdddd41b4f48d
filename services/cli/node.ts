import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  addressText,
  ContainerRuntime,
  GpuNodeThread,
  NodeServer,
  type ContainerStart,
  type NodeServerOptions,
} from '../../containers/runtime/index.js';
import { PacedClock } from '../../simulator/time/index.js';
import { BundleCache, BundledStarter } from '../bundles/index.js';
import { ANALYSES_FOLDER } from '../deployment/index.js';
import { holdBuild } from './buildLock.js';
import { openCluster } from './joinCluster.js';
import type { NodeOptions } from './nodeCommand.js';
import { nodePlan } from './nodePlan.js';
import { openLog } from './processLog.js';
import { warnOfPasswords } from './shownSecrets.js';
import { stopSignal } from './stopSignal.js';

/** Runs models for servers until SIGINT or SIGTERM, then drains. @param command which has the options, and knows where from */
export async function runNode(options: NodeOptions, command: Command): Promise<void> {
  const { complain, reopen } = openLog(options);
  const stopped = stopSignal();
  warnOfPasswords(command, complain);
  holdBuild();
  const { faults, certificates, security } = await nodePlan(options, complain);
  const { name, gpus } = options;
  const clock = new PacedClock();
  const thread = (): GpuNodeThread =>
    new GpuNodeThread({
      name,
      gpus,
      threads: options.gpuThreads,
      scheduling: options.scheduling,
      faults,
      ...(options.dataDir === undefined ? {} : { analysisDirectory: join(options.dataDir, ANALYSES_FOLDER) }),
      onNotice: complain,
    });
  // First what may fail: a thread that runs keeps a process that could not start.
  const cluster = await openCluster(options, complain);
  const cache = cluster && new BundleCache({ store: cluster.bundles, folder: bundleFolder(options) });
  const runtime = new ContainerRuntime({ clock, nodes: gpus.length === 0 ? [] : [thread()] });
  const start = (request: ContainerStart) => runtime.start(request);
  const starter = cache && new BundledStarter(cache, start, complain);
  const server = new NodeServer({
    name,
    gpus,
    runtime: starter === undefined ? runtime : nodeRuntime(runtime, starter),
    fetchesFiles: starter !== undefined,
    security,
    limits: { graceMs: options.replicaGraceMs },
    complain,
  });
  const close = async (): Promise<void> => {
    await cluster?.leave();
    await new Promise<void>((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => runtime.close(resolve));
    certificates?.close();
    clock.close();
  };
  let signal: NodeJS.Signals | void;
  try {
    // Before anybody hears that it is there, and may send one.
    if (certificates !== undefined || options.logFile !== undefined) {
      process.on('SIGHUP', () => {
        reopen();
        certificates?.reload();
      });
    }
    const { address, port } = await server.listen(options.listen.host, options.listen.port);
    const isSecure = certificates !== undefined;
    const where = addressText({ host: address, port, isSecure });
    const what = gpus.length === 0 ? 'no GPUs' : gpus.join(', ');
    process.stdout.write(
      `Node ${name} (${what}) listens on ${where}\nServers use it with: windjammer serve --node ${where}\nCtrl-C drains and stops.\n`,
    );
    certificates?.watch((context) => server.setCertificate(context));
    const joined = await cluster?.announce({ address, port, isSecure });
    signal = await (joined === undefined ? stopped : Promise.race([stopped, joined.displaced]));
  } catch (error) {
    await close();
    throw error;
  }
  process.stdout.write('Draining; again to stop at once.\n');
  if (cluster !== undefined && signal !== undefined) {
    cluster.empty();
    await emptied(server, options.drainNoticeMs ?? (signal === 'SIGTERM' ? SIGTERM_NOTICE_MS : 0));
  }
  await cluster?.leave();
  const grace = new Promise<void>((resolve) => setTimeout(resolve, options.drainGraceMs).unref());
  await Promise.race([new Promise<void>((resolve) => server.drain(resolve)), grace]);
  await close();
  process.stdout.write('Stopped.\n');
}

/** Who sends SIGTERM starts another one and can wait; Ctrl-C waits for nobody. */
const SIGTERM_NOTICE_MS = 5000;
const LOOK_EVERY_MS = 50;

/** Until others have the replicas, nobody asks for them, or the time is over. */
async function emptied(server: NodeServer, limitMs: number): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (server.replicas > 0 && server.frontendCount > 0 && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}

/** As the node's runtime, but that files of models are fetched. */
function nodeRuntime(runtime: ContainerRuntime, starter: BundledStarter): NodeServerOptions['runtime'] {
  return {
    start: (request) => starter.start(request),
    reports: () => runtime.reports(),
    node: (name) => runtime.node(name),
    watchGpus: (watched) => runtime.watchGpus(watched),
    drain: (done) => runtime.drain(done),
  };
}

/** Where fetched files are kept; those of a node without a data directory go with it. */
function bundleFolder({ dataDir }: NodeOptions): string {
  if (dataDir !== undefined) return join(dataDir, 'bundles');
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-bundles-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
