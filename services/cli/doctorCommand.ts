import { Option, type Command } from 'commander';
import { reasonOf } from '../../simulator/text/index.js';
import { SECTIONS, type Section } from './configuration/index.js';
import type { Finding } from './doctor/index.js';
import type { NodeOptions } from './nodeCommand.js';
import { optionCommand } from './optionCommand.js';
import { print } from './printing.js';
import { redisPassword } from './redisPassword.js';
import type { ServeOptions } from './serveCommand.js';

const MIB = 1024 * 1024;
const OPTIONS = 'docs/reference/cli.md has each option';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'look whether a server or a node could run here as it is configured; what is not well is named with its fix',
    )
    .addOption(new Option('--for <command>', 'what is to run').choices(SECTIONS).default('serve'))
    .option('--config <file>', 'its configuration file')
    .option('--json', 'print JSON')
    .argument('[flags...]', 'that serve or node would be given, behind --')
    .showHelpAfterError('(flags of serve or node go behind --, as in: windjammer doctor -- --port 4337)')
    .action(
      async (
        flags: readonly string[],
        {
          config,
          json,
          for: section,
        }: { readonly config?: string; readonly json?: true; readonly for: Section },
      ) => {
        const words = [...(config === undefined ? [] : ['--config', config]), ...flags];
        const findings = await (section === 'node' ? examineNode(words) : examineServer(words));
        print(json, findings, findings.map(lineOf).join('\n'));
        if (findings.some(({ level }) => level === 'fail')) process.exitCode = 1;
      },
    );
}

/** @throws ConfigurationError, CommandError (as rejections) where options cannot be read at all */
async function examineServer(words: readonly string[]): Promise<readonly Finding[]> {
  const checks = await import('./doctor/index.js');
  const { servePlan } = await import('./servePlan.js');
  const command = optionCommand('serve');
  command.parse(words, { from: 'user' });
  const options = command.opts<ServeOptions>();
  const findings: Finding[] = await checks.versions();
  let plan: Awaited<ReturnType<typeof servePlan>>;
  try {
    plan = await servePlan(options, process.env, () => undefined);
  } catch (error) {
    return [...findings, checks.fail('options', reasonOf(error), OPTIONS)];
  }
  const { settings } = plan;
  const { clipper } = settings;
  findings.push(
    checks.memory((settings.cacheBytes ?? 0) + (settings.maxBufferedBytes ?? 0)),
    checks.files(options.maxConnections),
    ...(await checks.ports([
      { option: '--port', host: options.host, port: options.port },
      { option: '--management-port', host: options.managementHost, port: options.managementPort },
      ...(clipper === undefined ? [] : [{ option: '--clipper-port', ...clipper }]),
    ])),
  );
  if (settings.dataDirectory !== undefined) {
    findings.push(...checks.dataDirectory(settings.dataDirectory, options.jobsMib * MIB));
  }
  if (options.logFile !== undefined) findings.push(checks.logFile(options.logFile));
  for (const [check, files] of [
    ['certificate', settings.tls?.query],
    ['management certificate', settings.tls?.management],
  ] as const) {
    if (files !== undefined) findings.push(checks.certificate(check, files, Date.now()));
  }
  for (const { host, port } of settings.dialled?.addresses ?? []) {
    findings.push(
      await checks.reached('node', host, port, 'start it there: windjammer node --listen HOST:PORT'),
    );
  }
  if (options.store !== undefined) {
    const { redisAddress, DEFAULT_PREFIX } = await import('../redis/index.js');
    const address = redisAddress(options.store, redisPassword(options.redisPasswordFile, process.env));
    findings.push(...(await checks.sharedRedis(address, options.redisPrefix ?? DEFAULT_PREFIX)));
  }
  return findings;
}

/** @throws ConfigurationError, CommandError (as rejections) where options cannot be read at all */
async function examineNode(words: readonly string[]): Promise<readonly Finding[]> {
  const checks = await import('./doctor/index.js');
  const { nodePlan } = await import('./nodePlan.js');
  const { checkedJoin } = await import('./joinCluster.js');
  const command = optionCommand('node');
  command.parse(words, { from: 'user' });
  const options = command.opts<NodeOptions>();
  const findings: Finding[] = await checks.versions();
  let joined: ReturnType<typeof checkedJoin>;
  try {
    (await nodePlan(options, () => undefined)).certificates?.close();
    joined = checkedJoin(options);
  } catch (error) {
    return [...findings, checks.fail('options', reasonOf(error), OPTIONS)];
  }
  const { listen, dataDir, logFile, tlsCert: cert, tlsKey: key, tlsCa: ca } = options;
  findings.push(checks.memory(0), ...(await checks.ports([{ option: '--listen', ...listen }])));
  if (dataDir !== undefined) findings.push(...checks.nodeDirectory(dataDir));
  if (logFile !== undefined) findings.push(checks.logFile(logFile));
  if (cert !== undefined && key !== undefined) {
    const files = { cert, key, ...(ca === undefined ? {} : { ca }) };
    findings.push(checks.certificate('certificate', files, Date.now()));
  }
  if (joined !== undefined) findings.push(...(await checks.sharedRedis(joined.address, options.redisPrefix)));
  return findings;
}

function lineOf({ check, level, found, fix }: Finding): string {
  return `${level.padEnd(4)}  ${check}: ${found}${fix === undefined ? '' : `\n      fix: ${fix}`}`;
}
