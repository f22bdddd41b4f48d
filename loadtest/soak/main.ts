/**
 * `npm run soak -- [--cluster] [--minutes 10] [--seed N] [--json]`: a server at 70 % of what it can do, with clients of every
 * interface, bad input, clients that go away, containers that die and hang, new versions, rollbacks and scaling; with
 * `--cluster` three frontends, three nodes and a Redis, of which each is killed and each line between two is cut. Exit code 1
 * with the list when something happened that must not.
 */
import { parseArgs } from 'node:util';
import { reasonOf } from '../../simulator/text/index.js';
import { runClusterSoak } from './cluster/clusterSoakRun.js';
import { clusterReportText, serverReportText } from './reportTexts.js';
import { runSoak } from './soakRun.js';

const { minutes, seed, json, cluster } = commandLine();
const common = {
  seconds: 60 * minutes,
  seed,
  onProgress: (text: string) => void process.stderr.write(`${text}\n`),
};
const [report, text] = cluster ? await soakCluster() : await soakServer();
process.stdout.write(json ? `${JSON.stringify(report)}\n` : text);
if (report.violations.length > 0) process.exitCode = 1;

async function soakServer() {
  const done = await runSoak({ ...common, loadShare: 0.7, troubleEveryMs: 4000 });
  return [done, serverReportText(done, minutes, seed)] as const;
}

async function soakCluster() {
  const done = await runClusterSoak({
    ...common,
    perSecond: 300,
    feedbackLanes: 6,
    troubleEveryMs: Math.min(5000, (60_000 * minutes) / 24),
  });
  return [done, clusterReportText(done, minutes)] as const;
}

interface CommandLine {
  readonly minutes: number;
  readonly seed: number;
  readonly json: boolean;
  readonly cluster: boolean;
}

function commandLine(): CommandLine {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: '20170327' },
        json: { type: 'boolean', default: false },
        cluster: { type: 'boolean', default: false },
      },
    });
    const numbers = { minutes: Number(values.minutes), seed: Number(values.seed) };
    if (!(numbers.minutes > 0 && numbers.minutes < Infinity)) throw new Error('--minutes must be above 0');
    if (!Number.isInteger(numbers.seed) || numbers.seed < 0 || numbers.seed >= 2 ** 31) {
      throw new Error('--seed must be a whole number from 0 to 2147483647');
    }
    return { ...numbers, json: values.json, cluster: values.cluster };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(2);
  }
}
