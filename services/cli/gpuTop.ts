import { InvalidArgumentError, Option, type Command } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefusedError, type ManagementClient } from '../client/index.js';
import type { ClusterAnswer, GpuAnswer } from '../management/index.js';
import { withManagementOptions, clientOf, type ClientOptions } from './clientOptions.js';
import { frontendTable, nodeTable } from './clusterTables.js';
import { CommandError } from './commandError.js';
import { GpuQuery, QUERY_FIELDS } from './gpuQuery.js';
import { gpuTable } from './gpuTable.js';
import { interruption } from './interruption.js';
import { wholeNumber } from './optionValues.js';

interface TopOptions extends ClientOptions {
  readonly once?: true;
  readonly interval?: number;
  readonly device?: number;
  readonly query?: string;
  readonly format?: string;
}

const DEFAULT_INTERVAL_S = 1;
/** A server that has just come up has no sample of its GPUs yet. */
const FIRST_SAMPLE_MS = 2000;
const RETRY_MS = 100;

export function addGpuTopCommand(gpu: Command, version: string): void {
  const command = gpu
    .command('top')
    .description("what a running server's simulated GPUs do, and who uses them, in the manner of nvidia-smi")
    .option('--once', 'print it once; otherwise it goes on until Ctrl-C')
    .option('--interval <seconds>', `how often, every ${DEFAULT_INTERVAL_S} unless given`, seconds)
    .option('--device <index>', 'only this GPU', wholeNumber(0, 4095))
    .addOption(
      new Option(
        '--query-gpu, --query <fields>',
        'values of these fields, with commas between, as lines; once unless --interval is given',
      ),
    )
    .option('--format <format>', 'of a query: csv, or csv,noheader,nounits and the like')
    .addHelpText('after', `\nFields of --query:\n  ${QUERY_FIELDS.join(', ')}`);
  withManagementOptions(command).action((options: TopOptions) => top(options, version));
}

async function top(options: TopOptions, version: string): Promise<void> {
  const view = viewOf(options, version);
  const isOnce = options.once === true || (options.query !== undefined && options.interval === undefined);
  const { management } = await clientOf(options);
  const interrupted = interruption();
  const gone = new AbortController();
  // Whoever reads a pipe ends it: there is nobody left to tell.
  const onGone = (): void => gone.abort();
  process.stdout.once('error', onGone);
  const stopped = AbortSignal.any([interrupted.signal, gone.signal]);
  const screen = view.isPage && !isOnce && process.stdout.isTTY ? LIVE : PLAIN;
  try {
    const intervalMs = (options.interval ?? DEFAULT_INTERVAL_S) * 1000;
    screen.begin();
    for (let frame = 0; !stopped.aborted; frame++) {
      if (frame > 0) await sleep(intervalMs, undefined, { signal: stopped });
      const cluster = view.isPage ? await clusterOf(management, stopped) : undefined;
      const gpus = await gpusOf(management, options.device, cluster, stopped);
      const text = view.text(gpus, frame === 0);
      screen.show(cluster === undefined ? text : `${text}\n\n${clusterText(cluster)}`);
      if (isOnce) return;
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  } finally {
    screen.end();
    interrupted.end();
    process.stdout.off('error', onGone);
  }
}

/** undefined: the server is part of none. */
async function clusterOf(
  management: ManagementClient,
  signal: AbortSignal,
): Promise<ClusterAnswer | undefined> {
  try {
    return await management.clusterStatus({ signal });
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'not_a_cluster') return undefined;
    throw error;
  }
}

/** Nodes without a GPU, silent, drained and lost ones too, and the frontends. */
function clusterText(cluster: ClusterAnswer): string {
  const nodes = cluster.nodes.length === 0 ? 'No node has joined the cluster.' : nodeTable(cluster);
  return `${nodes}\n\n${frontendTable(cluster)}`;
}

/** @param cluster whose nodes are shown also where none of them has a GPU */
async function gpusOf(
  management: ManagementClient,
  device: number | undefined,
  cluster: ClusterAnswer | undefined,
  signal: AbortSignal,
): Promise<readonly GpuAnswer[]> {
  let gpus: readonly GpuAnswer[] = [];
  const mayBeNone = cluster?.nodes.every((node) => !node.connected) === true;
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    gpus = await management.gpus({ signal });
    if (gpus.length > 0 || mayBeNone || waitedMs >= FIRST_SAMPLE_MS) break;
    await sleep(RETRY_MS, undefined, { signal });
  }
  if (gpus.length === 0 && cluster === undefined)
    throw new CommandError('the server has no GPU node that is running');
  if (device === undefined || gpus.length === 0) return gpus;
  const chosen = gpus.filter(({ index }) => index === device);
  if (chosen.length > 0) return chosen;
  const names = gpus.map(({ index, gpu }) => `${index} (${gpu})`);
  throw new CommandError(
    `--device ${device}: the server has ${names.length === 1 ? `GPU ${names[0]} alone` : `GPUs ${names.join(', ')}`}`,
  );
}

/** What one reading looks like. */
interface View {
  /** It fills a terminal, and the next one takes its place. */
  readonly isPage: boolean;
  text(gpus: readonly GpuAnswer[], isFirst: boolean): string;
}

function viewOf({ query, format, json }: TopOptions, version: string): View {
  if (query === undefined && format !== undefined) throw new CommandError('--format goes with --query');
  if (query !== undefined && json === true) throw new CommandError('--query and --json: choose one');
  if (json === true) return { isPage: false, text: (gpus) => JSON.stringify(gpus) };
  if (query === undefined) {
    return { isPage: true, text: (gpus) => gpuTable(gpus, version, new Date()) };
  }
  const lines = new GpuQuery(query, format);
  return {
    isPage: false,
    text: (gpus, isFirst) => {
      const header = isFirst ? lines.header() : undefined;
      return [...(header === undefined ? [] : [header]), ...gpus.map((gpu) => lines.line(gpu))].join('\n');
    },
  };
}

interface Screen {
  begin(): void;
  show(text: string): void;
  end(): void;
}

const PLAIN: Screen = {
  begin: () => undefined,
  show: (text) => process.stdout.write(`${text}\n`),
  end: () => undefined,
};

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** Each reading is written over the one before it. The last one stays. */
const LIVE: Screen = {
  begin: () => process.stdout.write(`${HIDE_CURSOR}${HOME}${CLEAR_BELOW}`),
  show: (text) => {
    const lines = cut(text.split('\n'), process.stdout.rows - 1);
    process.stdout.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`);
  },
  end: () => process.stdout.write(SHOW_CURSOR),
};

/** What does not fit would scroll the beginning away. */
function cut(lines: readonly string[], most: number): readonly string[] {
  if (!(most > 1) || lines.length <= most) return lines;
  const kept = most - 1;
  return [...lines.slice(0, kept), `... ${lines.length - kept} more lines: --once shows all`];
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0.1 && value <= 3600))
    throw new InvalidArgumentError('expected a number of seconds from 0.1 to 3600.');
  return value;
}
