/**
 * What verdicts at launch add to the time in which models serve: the built-in models on one simulated H200 under killRestart, once with
 * the modelled costs of verdicts and once with free ones, for a burst in batches of up to 32 and for queries that come one after the
 * other. Prints the table.
 * Usage: npm run experiment idempotency/overhead -- [--queries N]
 */
import { parseArgs } from 'node:util';
import { BUILT_IN_MODELS } from '../../../containers/models/index.js';
import { FREE_VERDICTS, serveBurst } from './servedBurst.js';

const { values: options } = parseArgs({ options: { queries: { type: 'string', default: '512' } } });
const queries = Number(options.queries);
const LOADS = [
  { name: 'burst, batches of 32', queries, batchSize: 32, concurrency: queries },
  { name: 'one after the other', queries: Math.ceil(queries / 16), batchSize: 1, concurrency: 1 },
] as const;

process.stdout.write('| model | load | verdicts | makespan, us | with free verdicts, us | added |\n');
process.stdout.write('| --- | --- | --- | --- | --- | --- |\n');
for (const { name, ...load } of LOADS) {
  let [all, allFree] = [0, 0];
  for (const model of BUILT_IN_MODELS) {
    const charged = serveBurst({ model, scheduling: 'killRestart', ...load });
    const free = serveBurst({ model, scheduling: 'killRestart', verdictCosts: FREE_VERDICTS, ...load });
    if (charged.outputs.join() !== free.outputs.join()) throw new Error(`${model}: outputs differ`);
    all += charged.makespanUs;
    allFree += free.makespanUs;
    row(model, name, charged.verdicts, charged.makespanUs, free.makespanUs);
  }
  row('all', name, undefined, all, allFree);
}

function row(model: string, load: string, verdicts: number | undefined, us: number, freeUs: number): void {
  const added = `${(100 * (us / freeUs - 1)).toFixed(2)} %`;
  process.stdout.write(
    `| ${model} | ${load} | ${verdicts ?? ''} | ${us.toFixed(1)} | ${freeUs.toFixed(1)} | ${added} |\n`,
  );
}
