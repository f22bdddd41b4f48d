import { InvalidArgumentError, Option, type Command } from 'commander';
import { SCHEDULING_POLICY_NAMES } from '../../simulator/scheduling/index.js';
import { configurable, withForm } from './configuration/index.js';
import { addFaultOptions, type FaultChoice } from './faultOptions.js';
import { cardList } from './gpusOption.js';
import { logFileOption, wholeNumber } from './optionValues.js';

interface HostAndPort {
  readonly host: string;
  readonly port: number;
  /** As it was given. */
  toString(): string;
}

export interface NodeOptions extends FaultChoice {
  readonly name: string;
  readonly gpus: readonly string[];
  readonly listen: HostAndPort;
  readonly join?: string;
  readonly redisPasswordFile?: string;
  readonly redisPrefix: string;
  readonly bundleDir?: string;
  readonly advertise?: HostAndPort;
  readonly clusterKeyFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly gpuThreads: number;
  readonly scheduling: string;
  readonly dataDir?: string;
  readonly replicaGraceMs: number;
  readonly drainNoticeMs?: number;
  readonly drainGraceMs: number;
  readonly logLevel: string;
  readonly logFile?: string;
}

const milliseconds = wholeNumber(0, 3_600_000);
const cards = withForm({ kind: 'list', isRepeated: false }, (text: string) =>
  text === 'none' ? [] : cardList(text),
);

/** @param environment from which options come that no flag gives */
export function addNodeCommand(program: Command, environment = process.env): void {
  const command = program
    .command('node')
    .description(
      'run models for servers that are started with --node: a process with simulated GPUs of its own',
    )
    .requiredOption('--name <name>', 'by which servers, metrics and reports know it', nodeName)
    .option('--gpus <cards>', 'its GPUs, by their names in `gpu devices`, or none', cards, ['h200'])
    .requiredOption('--listen <host:port>', 'where servers dial it; port 0 for any', hostAndPort)
    .option(
      '--join <redis>',
      'a Redis through which servers with --store and --only-nodes find it: docs/guides/cluster.md',
    )
    .option(
      '--redis-password-file <file>',
      'with --join: holds the password of that Redis, in place of WINDJAMMER_REDIS_PASSWORD',
    )
    .option('--redis-prefix <prefix>', 'of the cluster’s keys there', 'windjammer')
    .option(
      '--bundle-dir <folder>',
      'that all servers and nodes of the cluster see: files of models travel through it, and through Redis without it',
    )
    .option('--advertise <host:port>', 'where servers dial it, if not where it listens', hostAndPort)
    .option(
      '--cluster-key-file <file>',
      'holds a key that servers must have too; it never travels: docs/guides/nodes.md',
    )
    .option('--tls-cert <file>', 'PEM of a certificate: servers dial tls://')
    .option('--tls-key <file>', 'PEM of its key')
    .option('--tls-ca <file>', 'PEM of authorities: servers must show a certificate of theirs')
    .option(
      '--gpu-threads <number>',
      'threads that run the blocks of large kernel launches',
      wholeNumber(1, 64),
      1,
    )
    .option(
      '--scheduling <policy>',
      `who runs next on a GPU: ${SCHEDULING_POLICY_NAMES.join(', ')}, or the file of a policy, a .js module`,
      'fifo',
    )
    .option(
      '--data-dir <folder>',
      'where analyses of kernels are kept for the next start; nowhere unless given',
    )
    .option(
      '--replica-grace-ms <ms>',
      'how long replicas of a server that broke off are kept warm for it',
      milliseconds,
      10_000,
    )
    .option(
      '--drain-notice-ms <ms>',
      'with --join: time for its replicas to move to other nodes before it drains, while it goes on answering; 5000 after SIGTERM, 0 after Ctrl-C unless given',
      milliseconds,
    )
    .option('--drain-grace-ms <ms>', 'time for what is in flight when it is stopped', milliseconds, 10_000)
    .addOption(logFileOption())
    .addOption(
      new Option('--log-level <level>', 'log on standard error, as JSON lines')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('warn'),
    );
  configurable(addFaultOptions(command), 'node', environment).action(async (options: NodeOptions) => {
    const { runNode } = await import('./node.js');
    await runNode(options, command);
  });
}

function nodeName(text: string): string {
  if (/^[\w.-]{1,100}$/.test(text)) return text;
  throw new InvalidArgumentError('expected up to 100 letters, digits, dots, hyphens and underscores.');
}

function hostAndPort(text: string): HostAndPort {
  const found = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[^:\s]+)):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(found?.port);
  const host = found?.six ?? found?.host;
  if (host === undefined || port > 65_535) {
    throw new InvalidArgumentError('expected HOST:PORT, as 127.0.0.1:4100 or [::1]:4100.');
  }
  return { host, port, toString: () => text };
}
