import { Option, type Command } from 'commander';
import { readJsonFile, readTextFile } from '../../simulator/files/index.js';
import type { KernelRow, ReplayReport, ReplayTable } from '../../simulator/kernelTable/index.js';
import type { LaunchClass } from '../../simulator/scheduling/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';
import { deviceOption, positive, wholeNumber } from './optionValues.js';
import { OutputFile, checkApart } from './outputFile.js';
import { print } from './printing.js';
import { checkedScheduling } from './schedulingOption.js';

interface ReplayCommandOptions {
  readonly device: string;
  readonly measuredOn: string;
  readonly streams?: number;
  readonly priority?: string;
  readonly class?: string;
  readonly seed: number;
  readonly every?: string;
  readonly gaps?: string;
  readonly seconds?: number;
  readonly launches?: number;
  readonly policy: string;
  readonly json?: boolean;
  readonly timeline?: string;
}

const DEFAULT_SECONDS = 1;
const LONGEST_GAP_S = 1e6;

export function addGpuReplayCommand(gpu: Command): void {
  gpu
    .command('replay')
    .description('replay kernel tables side by side on one GPU, in timing fidelity: nothing is executed')
    .argument(
      '<tables...>',
      'CSV files, a launch a line: Name,Profile,Memory_footprint,SM_usage,Duration[,Idempotent][,Context_bytes]',
    )
    .addOption(deviceOption().default('h200'))
    .option('--measured-on <card>', "card that the tables' durations are of", 'v100')
    .addOption(new Option('--streams <number>', 'clients a table (default: 1)').argParser(wholeNumber(1, 64)))
    .option(
      '--priority <numbers>',
      "of each client's stream, higher runs first: one, or one a client, like 1,0,0",
    )
    .option(
      '--class <classes>',
      "of each client's launches, critical, standard or bestEffort: one, or one a client, like critical,bestEffort",
    )
    .option(
      '--every <ms>',
      'starts passes at this distance, in place of one after the other: one, or one a client (0: closed loop)',
    )
    .option(
      '--gaps <file>',
      'distances between the starts of passes, in seconds: a JSON array of numbers, for all clients',
    )
    .option(
      '--seconds <number>',
      `simulated time after which it ends (default: ${DEFAULT_SECONDS})`,
      positive,
    )
    .addOption(
      new Option('--launches <number>', 'launches after which it ends, of all clients together').argParser(
        wholeNumber(1, 1e12),
      ),
    )
    .option('--policy <policy>', 'who runs next on the device: a name, or the file of a policy', 'fifo')
    .addOption(
      new Option('--seed <number>', 'draws which launches are idempotent where a table gives a share of them')
        .default(1)
        .argParser(wholeNumber(0, 2 ** 31 - 1)),
    )
    .option('--json', 'print it as JSON')
    .option('--timeline <file>', "write what the GPU does when, in Chrome's trace event format")
    .action(replay);
}

async function replay(paths: readonly string[], options: ReplayCommandOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { KernelTableError, parseKernelTable, replayTables } =
    await import('../../simulator/kernelTable/index.js');
  const { GpuError, findCard } = await import('../../simulator/gpu/index.js');
  const { LAUNCH_CLASSES, SchedulingError } = await import('../../simulator/scheduling/index.js');
  const trace = options.timeline === undefined ? undefined : new OutputFile(options.timeline, '--timeline');
  checkApart(trace === undefined ? [] : [trace], [
    ...paths.map((path) => ({ what: 'a table', path })),
    { what: 'the file of --gaps', path: options.gaps },
    { what: 'the card', path: options.device },
    { what: 'the card of --measured-on', path: options.measuredOn },
  ]);
  try {
    const rows = paths.map((path) => parseKernelTable(readText(path), path));
    const report = replayTables({
      tables: clients(paths, rows, options, LAUNCH_CLASSES),
      seed: options.seed,
      card: findCard(options.device, process.cwd()).profile,
      measuredOn: findCard(options.measuredOn, process.cwd()).profile,
      policy: await checkedScheduling('--policy', options.policy),
      ...(options.launches === undefined ? {} : { launches: options.launches }),
      ...(options.launches !== undefined && options.seconds === undefined
        ? {}
        : { seconds: options.seconds ?? DEFAULT_SECONDS }),
      stopwatch: () => Number(process.hrtime.bigint()) / 1e9,
      ...(trace === undefined ? {} : { timeline: (text: string) => trace.write(text) }),
    });
    print(options.json, report, reportText(report));
  } catch (error) {
    if (error instanceof KernelTableError || error instanceof GpuError || error instanceof SchedulingError) {
      throw new CommandError(`${error.code}: ${error.message}`, { cause: error });
    }
    throw error;
  } finally {
    trace?.close();
  }
}

function clients(
  paths: readonly string[],
  rows: readonly (readonly KernelRow[])[],
  options: ReplayCommandOptions,
  launchClasses: readonly LaunchClass[],
): ReplayTable[] {
  const { streams = 1 } = options;
  const count = paths.length * streams;
  const priorities = numbers('--priority', options.priority, count, Number.isSafeInteger, 'whole numbers');
  const classes = classesOf(options.class, count, launchClasses);
  const every = numbers(
    '--every',
    options.every,
    count,
    (ms) => ms >= 0 && ms <= LONGEST_GAP_S * 1e3,
    `milliseconds, 0 to ${LONGEST_GAP_S * 1e3}`,
  );
  if (options.gaps !== undefined && every !== undefined) {
    throw new CommandError('--gaps and --every: give one of them');
  }
  const gaps = options.gaps === undefined ? undefined : readGaps(options.gaps);
  return Array.from({ length: count }, (_, index) => {
    const table = Math.floor(index / streams);
    const everyMs = every?.[index] ?? 0;
    const gapsNs = gaps ?? (everyMs > 0 ? [everyMs * 1e6] : undefined);
    return {
      path: paths[table],
      rows: rows[table],
      priority: priorities?.[index] ?? 0,
      launchClass: classes[index],
      ...(gapsNs === undefined ? {} : { gapsNs }),
    };
  });
}

/** One number for all clients, or one for each. */
function numbers(
  option: string,
  text: string | undefined,
  count: number,
  isFit: (value: number) => boolean,
  expected: string,
): number[] | undefined {
  if (text === undefined) return undefined;
  const values = text.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (!values.every((value) => Number.isFinite(value) && isFit(value))) {
    throw new CommandError(`${option}: '${text}' is not ${expected}, separated by commas`);
  }
  return oneEach(option, values, count);
}

function classesOf(
  text: string | undefined,
  count: number,
  known: readonly LaunchClass[],
): readonly (LaunchClass | undefined)[] {
  const names = text?.split(',').map((part) => part.trim()) ?? [];
  const classes = names.map((name) => {
    const found = known.find((each) => each === name);
    if (found !== undefined) return found;
    throw new CommandError(`--class: '${name}' is no class of launches; there are: ${known.join(', ')}`);
  });
  return text === undefined ? [] : oneEach('--class', classes, count);
}

function oneEach<T>(option: string, values: readonly T[], count: number): T[] {
  if (values.length === 1) return Array.from({ length: count }, () => values[0]);
  if (values.length === count) return [...values];
  throw new CommandError(
    `${option}: ${values.length} values for ${count} clients; give one, or one a client`,
  );
}

function readGaps(path: string): number[] {
  let value: unknown;
  try {
    value = readJsonFile(path);
  } catch (error) {
    throw new CommandError(`--gaps: ${path}: ${reasonOf(error)}`);
  }
  if (!Array.isArray(value) || value.length === 0) {
    throw new CommandError(`--gaps: ${path}: expected a JSON array of seconds, one at least`);
  }
  return value.map((seconds: unknown, index) => {
    if (typeof seconds === 'number' && seconds >= 0 && seconds <= LONGEST_GAP_S) return seconds * 1e9;
    throw new CommandError(
      `--gaps: ${path}: [${index}]: ${JSON.stringify(seconds)} is not a number of seconds, 0 to ${LONGEST_GAP_S}`,
    );
  });
}

function readText(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw new CommandError(`${path}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function reportText(report: ReplayReport): string {
  const heads = [
    'client',
    'priority',
    'class',
    'passes',
    'launches',
    'passes/s',
    'mean ms',
    'p50',
    'p90',
    'p99',
    'max',
  ];
  const ms = (us: number | undefined): string => (us === undefined ? '-' : (us / 1e3).toFixed(3));
  const rows = report.clients.map(({ table, priority, launchClass, requests, launches, ...client }) => [
    table.replace(/^.*\//, ''),
    String(priority),
    launchClass,
    String(requests),
    String(launches),
    client.requestsPerSecond.toFixed(1),
    ms(client.latency?.meanUs),
    ms(client.latency?.p50Us),
    ms(client.latency?.p90Us),
    ms(client.latency?.p99Us),
    ms(client.latency?.maxUs),
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  ');
  return [
    `${report.device}, tables measured on ${report.measuredOn}, policy ${report.policy}`,
    line(heads),
    ...rows.map(line),
    `makespan ${ms(report.makespanUs)} ms simulated, ${report.launches} launches, SMs in use ${(report.smUtilisation * 100).toFixed(1)}%`,
    ...preemptionLines(report),
    `host: ${report.hostSeconds.toFixed(2)} s, ${Math.round(report.launchesPerHostSecond)} launches a second`,
  ].join('\n');
}

function preemptionLines({ preemptions, makespanUs }: ReplayReport): string[] {
  const { kills, saves, drains, wastedBlockUs } = preemptions;
  if (kills + saves + drains === 0) return [];
  const kinds: readonly (readonly [string, number, number | undefined])[] = [
    ['killed', kills, preemptions.meanKillUs],
    ['copied out', saves, preemptions.meanSaveUs],
    ['waited for', drains, preemptions.meanDrainUs],
  ];
  const told = kinds
    .filter(([, count]) => count > 0)
    .map(([kind, count, meanUs]) => `${count} ${kind} (${meanUs?.toFixed(1) ?? '-'} us each)`)
    .join(', ');
  const wasted = wastedBlockUs / makespanUs;
  return [`launches taken off the SMs: ${told}; work thrown away: that of ${wasted.toFixed(2)} SMs`];
}
