/**
 * Kills a server at random moments of batch jobs and checks that every line has its answer once. With `--shared`: one of two
 * frontends, or the Redis that they share.
 * Usage: npm run experiment jobKills [-- --shared --moments 200 --lines 10000 --seed 1]
 */
import { parseArgs } from 'node:util';
import { jobUnderKills } from '../soak/jobKillRun.js';

const { values } = parseArgs({
  options: {
    moments: { type: 'string', default: '200' },
    lines: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    shared: { type: 'boolean', default: false },
  },
});
const result = await jobUnderKills({
  seed: Number(values.seed),
  moments: Number(values.moments),
  lines: Number(values.lines),
  isShared: values.shared,
  onProgress: (text) => process.stderr.write(`${text}\n`),
});
process.stdout.write(`${JSON.stringify(result)}\n`);
if (result.violations.length > 0) process.exitCode = 1;
