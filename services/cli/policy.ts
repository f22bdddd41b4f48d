import type { Command } from 'commander';
import type { Verdict } from '../../selection/conformance/index.js';
import type { Json, Loss, SelectionPolicy } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';
import { readPolicyFile } from './policyFileOption.js';
import { print, table } from './printing.js';

interface TestOptions {
  readonly parameters?: string;
  readonly otherParameters?: string;
  readonly json?: true;
}

/** A call that takes longer loops: a server gives all of a query less. */
const MOST_CALL_MS = 1000;
const TIMED_CALLS = 2000;
/** What a loss has to live with, as output and as label. */
const OUTPUTS = ['1', '"x"', 'x', '', '[1, 2]', '{"a": null}', '-1e300', 'NaN'];

/** Selection policies, those of the server and of the user's own. */
export function addPolicyCommand(program: Command): void {
  const policy = program
    .command('policy')
    .description('selection policies: those that there are, and one of your own held to their rules');
  policy
    .command('list')
    .description('the policies that an application may have, with their parameters')
    .option('--json', 'print them as JSON')
    .action(list);
  policy
    .command('test')
    .description('hold a policy file to the rules that every policy keeps')
    .argument('<file>', 'an ES module whose default export is a SelectionPolicy')
    .option('--parameters <json>', 'of the policy, its defaults unless given')
    .option('--other-parameters <json>', 'others that it takes, which are put in their place')
    .option('--json', 'print the verdicts as JSON')
    .action(test);
}

/** @throws CommandError where what they draw with is not installed: the package leaves it out, since no server needs it */
async function rules() {
  try {
    return await import('../../selection/conformance/index.js');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new CommandError(
      'the rules draw what happens to a policy with fast-check, which is not installed: npm install fast-check@4 beside windjammer, or npx -p windjammer -p fast-check@4 windjammer policy test FILE',
    );
  }
}

async function list({ json }: { readonly json?: true }): Promise<void> {
  const { POLICY_NAMES, policyNamed } = await import('../../selection/index.js');
  const policies = POLICY_NAMES.map((name) => ({ name, parameters: policyNamed(name).parameters }));
  const rows = policies.map(({ name, parameters }) => [name, parameters.join(', ')]);
  const note = 'One of your own: app add --policy-file FILE (docs/guides/policies.md)';
  print(json, policies, `${table(['POLICY', 'PARAMETERS'], rows)}\n${note}`);
}

async function test(path: string, options: TestOptions): Promise<void> {
  const { name, content: text } = await readPolicyFile(path);
  const parameters = jsonOf('--parameters', options.parameters);
  const otherParameters =
    options.otherParameters === undefined
      ? parameters
      : jsonOf('--other-parameters', options.otherParameters);
  const { openSteppedPolicy } = await import('../policyFiles/index.js');
  const opened = openSteppedPolicy(
    { name, text },
    { mostMs: MOST_CALL_MS, onPrinted: (line) => process.stderr.write(`${name} printed: ${line}\n`) },
  );
  const { policy, losses } = opened;
  const verdicts: Verdict[] = [];
  const tell = (verdict: Verdict): void => {
    verdicts.push(verdict);
    if (options.json !== true) process.stdout.write(verdictText(verdict));
  };
  if (policy !== undefined) {
    const { judge, RULES } = await rules();
    for (const rule of RULES) tell(judge(rule, { policy, parameters, otherParameters }, isLoop));
  }
  for (const [loss, measure] of losses) tell(lossVerdict(loss, measure));
  const broken = verdicts.filter(({ isKept }) => !isKept);
  const timed =
    policy === undefined || broken.length > 0 ? undefined : timesOf({ name, text }, policy, parameters);
  if (options.json === true)
    print(true, { file: name, policy: policy?.name, verdicts, times: await timed }, '');
  else if (timed !== undefined) process.stdout.write(timesText(await timed));
  if (broken.length > 0) {
    throw new CommandError(`${name}: ${broken.length} of ${verdicts.length} rules are not kept`);
  }
}

/** Each smaller counterexample would take as long. */
function isLoop(error: unknown): boolean {
  return error instanceof Error && 'field' in error && error.field === 'loop';
}

function jsonOf(option: string, text: string | undefined): Json {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new CommandError(`${option} is no JSON: ${reasonOf(cause)}`, { cause });
  }
}

function verdictText({ rule, isKept, reason, counterexample, fix }: Verdict): string {
  if (isKept) return `ok      ${rule}\n`;
  const lines = [`BROKEN  ${rule}`, `        ${reason ?? ''}`];
  if (counterexample !== undefined) lines.push(`        counterexample: ${counterexample}`);
  if (fix !== undefined) lines.push(`        fix: ${fix}`);
  return `${lines.join('\n')}\n`;
}

function lossVerdict(name: string, measure: Loss): Verdict {
  const rule = `the loss '${name}' is a number from 0 to 1, whatever models answer`;
  for (const output of OUTPUTS) {
    for (const label of OUTPUTS) {
      try {
        measure(output, label);
      } catch (error) {
        return {
          rule,
          isKept: false,
          reason: reasonOf(error),
          counterexample: JSON.stringify({ output, label }),
          fix: 'outputs and labels are texts: read numbers with Number(text), give 1 for what is none, and cut with Math.min(1, loss)',
        };
      }
    }
  }
  return { rule, isKept: true };
}

interface Times {
  readonly selectUs: number;
  readonly observeUs: number;
}

/** What the calls take, without what ends them. */
async function timesOf(
  file: { readonly name: string; readonly text: string },
  { name }: SelectionPolicy,
  parameters: Json,
): Promise<Times> {
  const { openSteppedPolicy } = await import('../policyFiles/index.js');
  const { KeyedDraw } = await import('../../selection/index.js');
  const { policy } = openSteppedPolicy(file);
  if (policy === undefined) throw new CommandError(`${name} is gone`);
  const draw = new KeyedDraw(1);
  let state = policy.init(['a', 'b', 'c', 'd'], parameters);
  const [select, observe]: [number[], number[]] = [[], []];
  for (let at = 0; at < TIMED_CALLS; at++) {
    const startMs = performance.now();
    const selection = policy.select(state, draw.of(`${at}`));
    const selectedMs = performance.now();
    const predictions = selection.arms.map((arm) => ({ arm, output: 'yes' }));
    state = policy.observe(state, selection, predictions, { label: at % 3 === 0 ? 'no' : 'yes' });
    observe.push(performance.now() - selectedMs);
    select.push(selectedMs - startMs);
  }
  return { selectUs: middle(select) * 1000, observeUs: middle(observe) * 1000 };
}

function middle(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

function timesText({ selectUs, observeUs }: Times): string {
  return `select takes ${selectUs.toFixed(0)} µs, observe ${observeUs.toFixed(0)} µs, of four models, in the middle\n`;
}
