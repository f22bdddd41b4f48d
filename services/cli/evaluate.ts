import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type {
  EstimatorName,
  Json,
  LoggedFeedback,
  PolicyEvaluation,
  SelectionPolicy,
} from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { boundedLines } from '../json/index.js';
import { CommandError } from './commandError.js';
import { fileValue } from './inputArguments.js';
import { positive, wholeNumber } from './optionValues.js';
import { readPolicyFile } from './policyFileOption.js';
import { print, table } from './printing.js';

interface EvaluateOptions {
  readonly log: readonly string[];
  readonly policy?: string;
  readonly policyFile?: string;
  readonly parameters?: string;
  readonly state?: string;
  readonly app?: string;
  readonly arms?: string;
  readonly clip?: number;
  readonly seed: number;
  readonly json?: true;
}

/** Held in memory. */
const MOST_LINES = 2_000_000;
/** A line has losses of an application's models and 64 features. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;

const NAMES: Readonly<Record<EstimatorName, string>> = {
  ips: 'inverse propensity',
  clipped: 'clipped',
  selfNormalised: 'self-normalised',
  doublyRobust: 'doubly robust',
  replay: 'replay',
};

export function addEvaluateCommand(program: Command): void {
  program
    .command('evaluate')
    .description('estimate what a policy would have lost, from feedback that record --feedback wrote')
    .requiredOption(
      '--log <file>',
      'feedback as JSON lines; may be given again',
      (path: string, before?: readonly string[]) => [...(before ?? []), path],
    )
    .option('--policy <name>', 'the policy to judge')
    .option('--policy-file <file>', 'in its place one of your own')
    .option('--parameters <json>', 'of the policy, such as {"model": "small"}')
    .option('--state <file>', 'what it has learned, as state export --json prints it: it learns no more')
    .option('--app <name>', 'the application, where the log has several')
    .option('--arms <names>', "the models in the order of their links, with commas; the log's unless given")
    .option(
      '--clip <weight>',
      'largest weight of the clipped estimate; the root of the number of judged queries unless given',
      positive,
    )
    .option('--seed <number>', 'of its draws', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--json', 'all of it as JSON')
    .action(evaluate);
}

async function evaluate({ log: paths, app, json, ...options }: EvaluateOptions): Promise<void> {
  const { evaluatePolicy } = await import('../../selection/index.js');
  const policy = await policyOf(options);
  const request = {
    policy,
    parameters: parametersOf(options.parameters),
    state: stateOf(options.state),
    arms: armsIn(options.arms),
    mostWeight: options.clip,
    seed: options.seed,
  };
  const log = await ofApplication(await linesOf(paths), app);
  const found = evaluatePolicy(log, request);
  print(json, { application: log[0].application, ...found }, textOf(found));
}

/** The file runs in this process, which has nothing to lose: without a watchdog calls take less. */
async function policyOf({
  policy,
  policyFile,
}: Pick<EvaluateOptions, 'policy' | 'policyFile'>): Promise<SelectionPolicy> {
  if ((policy === undefined) === (policyFile === undefined)) {
    throw new CommandError('give either --policy or --policy-file: the policy to judge');
  }
  if (policyFile === undefined) {
    const { policyNamed } = await import('../../selection/index.js');
    return policyNamed(policy ?? '');
  }
  const { name, content: text } = await readPolicyFile(policyFile);
  const { openSteppedPolicy } = await import('../policyFiles/index.js');
  const opened = openSteppedPolicy({ name, text });
  if (opened.policy === undefined)
    throw new CommandError(`--policy-file: ${name} has losses alone, no policy`);
  return opened.policy;
}

function parametersOf(text: string | undefined): Json {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new CommandError(`--parameters is no JSON: ${reasonOf(cause)}`, { cause });
  }
}

function armsIn(text: string | undefined): readonly string[] | undefined {
  const arms = text?.split(',');
  if (arms?.includes('') !== true) return arms;
  throw new CommandError('--arms: give names of models with one comma between two, such as small,large');
}

/** The state alone, or what `state export` prints around it. */
function stateOf(path: string | undefined): Json | undefined {
  if (path === undefined) return undefined;
  const value = fileValue(path);
  const isExport = typeof value === 'object' && value !== null && 'state' in value;
  return (isExport ? value.state : value) as Json;
}

async function linesOf(paths: readonly string[]): Promise<readonly LoggedFeedback[]> {
  const { parseLoggedFeedback } = await import('../../selection/index.js');
  const lines: LoggedFeedback[] = [];
  for (const path of paths) {
    const tooLong = (line: number) =>
      new CommandError(
        `--log: ${path}:${line} has more than ${MOST_LINE_BYTES} bytes: it is no feedback log`,
      );
    let at = 0;
    try {
      for await (const bytes of boundedLines(createReadStream(path), MOST_LINE_BYTES, tooLong)) {
        at += 1;
        const text = bytes.toString('utf8');
        if (text.trim() === '') continue;
        lines.push(parseLoggedFeedback(at === 1 ? text.replace(/^\uFEFF/, '') : text, `${path}:${at}`));
        if (lines.length > MOST_LINES) {
          throw new CommandError(`--log: more than ${MOST_LINES} judged queries: give fewer files`);
        }
      }
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause) {
        throw new CommandError(`--log: cannot read ${path}: ${cause.message}`, { cause });
      }
      throw cause;
    }
  }
  return lines;
}

async function ofApplication(
  log: readonly LoggedFeedback[],
  app: string | undefined,
): Promise<readonly LoggedFeedback[]> {
  const names = [...new Set(log.map(({ application }) => application))];
  if (app === undefined && names.length <= 1) {
    if (log.length === 0) throw new CommandError('--log: there is no judged query in it');
    return log;
  }
  const chosen = log.filter(({ application }) => application === app);
  if (chosen.length > 0) return chosen;
  const { EvaluationError } = await import('../../selection/index.js');
  const what =
    app === undefined
      ? 'the log is of several applications: choose one by --app'
      : `the log has nothing of '${app}'`;
  throw new EvaluationError('no_such_application', `${what}; it has ${names.join(', ')}`);
}

function textOf(found: PolicyEvaluation): string {
  const { policy, judged, served, kind, estimates, effectiveSamples, unsupported } = found;
  const rows = [
    ['as it was served', ...numbers(served)],
    ...Object.entries(estimates).map(([name, estimate]) => [
      NAMES[name as EstimatorName],
      ...numbers(estimate),
    ]),
  ];
  const count = Math.round(effectiveSamples);
  const worth =
    kind === 'replay'
      ? `'${policy}' learns: its mean loss over its first ${count} feedbacks, replayed from ${judged} judged queries`
      : `${judged} judged queries, worth ${count} of '${policy}'`;
  const notes = [worth];
  if (unsupported > 0)
    notes.push(
      `${(unsupported * 100).toFixed(2)} % of its choices were never tried: estimates may err by as much`,
    );
  const { meanWeight } = found;
  if (meanWeight !== undefined && (meanWeight.low > 1 || meanWeight.high < 1)) {
    notes.push(
      `weights have the mean ${meanWeight.mean.toFixed(3)} and not 1: propensities may not be those of the draws, or feedback is missing for some models more than for others`,
    );
  }
  return [table(['', 'mean loss', '95 % interval'], rows), ...notes].join('\n');
}

function numbers({ mean, low, high }: PolicyEvaluation['served']): [string, string] {
  return [mean.toFixed(4), `${low.toFixed(4)} to ${high.toFixed(4)}`];
}
