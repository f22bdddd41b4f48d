/** Two frontends write conflicting changes, and a checker looks whether their history is linearisable: `node main.js [--seed N] [--writes N]`. */
import { parseArgs } from 'node:util';
import { trial } from './trial.js';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, writes: { type: 'string', default: '100000' } },
});
const [seed, writes] = [Number(values.seed), Number(values.writes)];
for (const withCuts of [false, true]) {
  const result = await trial({ seed, writes, withCuts });
  const { outcomes, cuts, seconds } = result;
  const perSecond = Math.round(writes / seconds);
  process.stdout.write(
    `seed ${seed}: ${JSON.stringify(outcomes)}, ${cuts} cuts, ${seconds.toFixed(1)} s, ${perSecond} writes/s, ${result.violations.length} violations\n`,
  );
  for (const violation of result.violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
  if (result.violations.length > 0) process.exitCode = 1;
}
