/**
 * `npm run soak -- [--minutes 10] [--seed N] [--json]`: a server at 70 % of what it can do, with clients of every interface, bad
 * input, clients that go away, containers that die and hang, new versions, rollbacks and scaling. Exit code 1 with the
 * list when something happened that must not.
 */
import { parseArgs } from 'node:util';
import { reasonOf } from '../../simulator/text/index.js';
import { runSoak } from './soakRun.js';

const { minutes, seed, json } = commandLine();
const report = await runSoak({
  seconds: 60 * minutes,
  seed,
  loadShare: 0.7,
  troubleEveryMs: 4000,
  onProgress: (text) => process.stderr.write(`${text}\n`),
});
if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
else print();
if (report.violations.length > 0) process.exitCode = 1;

function commandLine(): { readonly minutes: number; readonly seed: number; readonly json: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: '20170327' },
        json: { type: 'boolean', default: false },
      },
    });
    const numbers = { minutes: Number(values.minutes), seed: Number(values.seed) };
    if (!(numbers.minutes > 0 && numbers.minutes < Infinity)) throw new Error('--minutes must be above 0');
    if (!Number.isInteger(numbers.seed) || numbers.seed < 0 || numbers.seed >= 2 ** 31) {
      throw new Error('--seed must be a whole number from 0 to 2147483647');
    }
    return { ...numbers, json: values.json };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(2);
  }
}

function print(): void {
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  process.stdout.write(
    [
      `${report.queries} queries in ${minutes} min: ${report.offeredPerSecond.toFixed(0)}/s of ${report.capacityPerSecond.toFixed(0)}/s, seed ${seed}`,
      `  predictions and defaults: ${report.answers}; not sent, since too many were under way: ${report.skipped}`,
      `  defaults: ${counts(report.defaults)}`,
      `  errors by status, nearly all asked for: ${counts(report.refusals)}`,
      `  troubles: ${counts(report.troubles)}`,
      `  heap after collection: ${report.samples.at(-1)?.heapMib.toFixed(1)} MiB, ${growthText(report.heapGrowthMib)}`,
      `  event loop late: p99 at most ${report.loopP99Ms.toFixed(0)} ms, longest ${report.loopMaxMs.toFixed(0)} ms`,
      report.violations.length === 0 ? '  nothing happened that must not' : '  WHAT MUST NOT HAPPEN:',
      ...report.violations.flatMap(({ kind, count, examples }) => [
        `    ${kind}: ${count}`,
        ...examples.map((example) => `      ${example}`),
      ]),
      '',
    ].join('\n'),
  );
}

function growthText(grownMib: number | undefined): string {
  return grownMib === undefined
    ? 'not judged: the run ended before caches were full for long'
    : `grown by ${grownMib.toFixed(2)} MiB once caches were full`;
}
