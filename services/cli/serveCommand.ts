import { Option, type Command } from 'commander';
import { SCHEDULING_POLICY_NAMES } from '../../simulator/scheduling/index.js';
import { cardList, MOST_NODES } from './gpusOption.js';
import { logFileOption, mebibytes, webOrigins, wholeNumber } from './optionValues.js';
import { addDialOptions, type DialChoice } from './clusterOptions.js';
import { configurable } from './configuration/index.js';
import { addFaultOptions, type FaultChoice } from './faultOptions.js';
import type { ServeSecurityOptions } from './serveSecurity.js';

export interface ServeOptions extends FaultChoice, ServeSecurityOptions, DialChoice {
  readonly host: string;
  readonly port: number;
  readonly managementHost: string;
  readonly managementPort: number;
  readonly clipperHost?: string;
  readonly clipperPort?: number;
  readonly clipperMaxContainers?: number;
  readonly clipperMaxMessageMib?: number;
  readonly dataDir: string;
  readonly ephemeral?: true;
  readonly store?: string;
  readonly bundleDir?: string;
  readonly redisPasswordFile?: string;
  readonly redisPrefix?: string;
  readonly defaults: boolean;
  readonly seed: number;
  readonly cacheMib: number;
  readonly contextMemoryMib: number;
  readonly maxContexts: number;
  readonly jobsMib: number;
  readonly feedbackSpoolMib?: number;
  readonly gpus: readonly string[];
  readonly nodes: number;
  readonly gpuThreads: number;
  readonly scheduling: string;
  readonly hangAfterMs: number;
  readonly maxBodyMib: number;
  readonly maxMessageMib?: number;
  readonly maxBufferedMib?: number;
  readonly maxBatchInputs: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly allowOrigin?: readonly string[];
  readonly v2RepositoryControl?: true;
  readonly drainNoticeMs?: number;
  readonly drainGraceMs: number;
  readonly logLevel: string;
  readonly logFile?: string;
  readonly otlpEndpoint?: string;
}

const port = wholeNumber(0, 65_535);
const milliseconds = wholeNumber(0, 3_600_000);
const timeout = wholeNumber(100, 3_600_000);

/** @param environment from which options come that no flag gives */
export function addServeCommand(program: Command, environment = process.env): void {
  const command = program
    .command('serve')
    .description('serve predictions from this process, with simulated GPUs in it')
    .option('--host <address>', 'address of the query interface', '127.0.0.1')
    .option('--port <port>', 'port of the query interface, 0 for any', port, 1337)
    .option(
      '--management-host <address>',
      'address of the management interface, which trusts all unless keys are required',
      '127.0.0.1',
    )
    .option('--management-port <port>', 'port of the management interface, 0 for any', port, 1338)
    .option(
      '--clipper-port <port>',
      'let containers that were built for Clipper dial in on this port, 7000 in Clipper, 0 for any: docs/guides/clipper.md (default: none)',
      port,
    )
    .option(
      '--clipper-host <address>',
      'with --clipper-port: its address, which trusts whoever reaches it (default: "127.0.0.1")',
    )
    .option(
      '--clipper-max-containers <number>',
      'with --clipper-port: containers that serve at once; more of them wait (default: 256)',
      wholeNumber(1, 65_536),
    )
    .option(
      '--clipper-max-message-mib <number>',
      'with --clipper-port: largest message of a container, its answers to a batch; parts such as 0.25 too (default: 64)',
      mebibytes(1024),
    )
    .option('--data-dir <folder>', 'where applications, models and learned weights are kept', '.windjammer')
    .option('--ephemeral', 'keep nothing')
    .option(
      '--store <url>',
      'share applications, models and learned weights with other servers, in a Redis: redis://, rediss://, redis+sentinel://, redis+cluster:// (docs/guides/shared-store.md; its password also as WINDJAMMER_REDIS_PASSWORD)',
    )
    .option(
      '--redis-password-file <file>',
      'with --store: holds the password of that Redis, in place of WINDJAMMER_REDIS_PASSWORD',
    )
    .option(
      '--redis-prefix <name>',
      'what the keys in that Redis begin with, for several installations on one (default: "windjammer")',
    )
    .option(
      '--bundle-dir <folder>',
      'with --store and --only-nodes: a folder that all servers and nodes see, through which files of models travel; through Redis without it',
    )
    .option('--no-defaults', 'do not register the applications digits and noop on the first start')
    .option('--seed <number>', 'seed of every random draw', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--cache-mib <number>', 'size of the prediction cache', wholeNumber(0, 1_048_576), 32)
    .option(
      '--context-memory-mib <number>',
      'what learned states of contexts (uid) may take of memory, all together; the rest is read from the store when it is asked for',
      wholeNumber(1, 1_048_576),
      64,
    )
    .option(
      '--max-contexts <number>',
      'contexts (uid) of one application whose states are kept; beyond it go those that were learned from least',
      wholeNumber(1, 1_000_000_000),
      1_000_000,
    )
    .option(
      '--jobs-mib <number>',
      'what batch jobs may take of the data directory; with --store: of the Redis, all together',
      wholeNumber(1, 1_048_576),
      4096,
    )
    .option(
      '--feedback-spool-mib <number>',
      'with --store: what feedback may take of the data directory while Redis is away; parts such as 0.25 too (default: 64)',
      mebibytes(65_536),
    )
    .option(
      '--gpus <cards>',
      "cards of each node's GPUs, with commas between: names of `gpu devices`",
      cardList,
      ['h200'],
    )
    .option(
      '--nodes <number>',
      'GPU nodes, each a thread with these GPUs: node0 and on',
      wholeNumber(1, MOST_NODES),
      1,
    )
    .option(
      '--gpu-threads <number>',
      'threads of each node that run the blocks of large kernel launches',
      wholeNumber(1, 64),
      1,
    )
    .option(
      '--scheduling <policy>',
      `who runs next on a GPU: ${SCHEDULING_POLICY_NAMES.join(', ')}, or the file of a policy, a .js module`,
      'fifo',
    )
    .option(
      '--hang-after-ms <ms>',
      'a replica whose batch takes so long, and 8 times longer than of late, is started anew; 0: never',
      milliseconds,
      1000,
    )
    .option('--max-body-mib <number>', 'largest body of a query; parts such as 0.25 too', mebibytes(1024), 16)
    .option(
      '--max-message-mib <number>',
      'largest message of a WebSocket, which is taken at once (4, or as --max-body-mib where that is less)',
      mebibytes(1024),
    )
    .option(
      '--max-buffered-mib <number>',
      'memory of all bodies and messages under way together (256, or one body where that is more)',
      mebibytes(65_536),
    )
    .option('--max-batch-inputs <number>', 'most inputs in one input_batch', wholeNumber(1, 1_048_576), 4096)
    .option('--headers-timeout-ms <ms>', 'for the headers of a request', timeout, 10_000)
    .option('--request-timeout-ms <ms>', 'for a whole request, its body too', timeout, 30_000)
    .option('--keep-alive-timeout-ms <ms>', 'until an idle connection is closed', timeout, 65_000)
    .option(
      '--allow-origin <origins...>',
      'web pages that may ask and open a WebSocket, beside its own; * for any',
      webOrigins,
    )
    .option('--require-keys', 'ask every request for an API key: docs/guides/security.md')
    .option(
      '--admin-key-file <file>',
      'holds a key that may administer; requires keys, as WINDJAMMER_ADMIN_KEY does',
    )
    .option('--tls-cert <file>', 'PEM of a certificate: both interfaces speak TLS')
    .option('--tls-key <file>', 'PEM of its key')
    .option('--tls-ca <file>', 'PEM of authorities: clients must show a certificate of theirs')
    .option('--management-tls-cert <file>', 'the same for the management interface alone')
    .option('--management-tls-key <file>')
    .option('--management-tls-ca <file>')
    .option('--max-connections <number>', 'of the query interface', wholeNumber(1, 1_000_000), 10_000)
    .option('--max-websockets <number>', 'among its connections', wholeNumber(0, 1_000_000), 4096)
    .option('--v2-repository-control', 'let clients of the query interface load and unload models by /v2')
    .option(
      '--drain-notice-ms <ms>',
      'unready but still serving, before a drain stops accepting; 1000 after SIGTERM, 0 after Ctrl-C unless given',
      milliseconds,
    )
    .option(
      '--drain-grace-ms <ms>',
      'time for what is in flight when a drain stops accepting',
      milliseconds,
      10_000,
    )
    .option(
      '--otlp-endpoint <url>',
      'send traces to this OTLP/HTTP receiver, as OTEL_EXPORTER_OTLP_ENDPOINT does',
    )
    .addOption(logFileOption())
    .addOption(
      new Option('--log-level <level>', 'log on standard error, as JSON lines')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    );
  configurable(addDialOptions(addFaultOptions(command)), 'serve', environment).action(
    async (options: ServeOptions) => {
      // Loaded when it is needed: the other commands start without the server.
      const { serve } = await import('./serve.js');
      await serve(options, command);
    },
  );
}
