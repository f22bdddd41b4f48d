/**
 * Kills a server at random moments of batch jobs and checks that every line has its answer once. With `--shared`: one of two
 * frontends, or the Redis that they share.
 * Usage: npm run experiment jobKills [-- --shared --moments 200 --lines 10000 --seed 1 --folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { renderBars } from '../report/index.js';
import { jobUnderKills } from '../soak/jobKillRun.js';

const { values, seed, folder } = experimentArguments('jobKills', EXPERIMENTS.jobKills);
const result = await jobUnderKills({
  seed,
  moments: Number(values.moments),
  lines: Number(values.lines),
  isShared: values.shared,
  onProgress: (text) => process.stderr.write(`${text}\n`),
});
folder.writeJson('jobKills.json', { seed, ...result });
folder.write(
  'jobKills.svg',
  renderBars({
    title: 'What was killed in the midst of batch jobs',
    subtitle: `${result.jobs} jobs of ${result.lines} lines together, ${result.lost} of them lost and ${result.doubled} doubled; seed ${seed}`,
    yLabel: 'kills',
    groups: Object.entries(result.kills).map(([name, value]) => ({
      name,
      bars: [{ name: [], value, text: String(value), color: 0 }],
    })),
  }),
);
folder.print(`${JSON.stringify(result)}\n`);
if (result.violations.length > 0) process.exitCode = 1;
