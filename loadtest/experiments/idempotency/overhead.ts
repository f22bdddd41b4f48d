/**
 * What verdicts at launch add to the time in which models serve: the built-in models on one simulated H200 under killRestart, once with
 * the modelled costs of verdicts and once with free ones, for a burst in batches of up to 32 and for queries that come one after the
 * other. Prints the table.
 * Usage: npm run experiment idempotency/overhead -- [--queries N]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import { BUILT_IN_MODELS } from '../../../containers/models/index.js';
import { renderBars } from '../../report/index.js';
import { FREE_VERDICTS, serveBurst } from './servedBurst.js';

const {
  values: options,
  seed,
  folder,
} = experimentArguments('idempotency/overhead', EXPERIMENTS['idempotency/overhead']);
const queries = Number(options.queries);
const added: { model: string; load: string; percent: number }[] = [];
const LOADS = [
  { name: 'burst, batches of 32', queries, batchSize: 32, concurrency: queries },
  { name: 'one after the other', queries: Math.ceil(queries / 16), batchSize: 1, concurrency: 1 },
] as const;

folder.print('| model | load | verdicts | makespan, us | with free verdicts, us | added |\n');
folder.print('| --- | --- | --- | --- | --- | --- |\n');
for (const { name, ...load } of LOADS) {
  let [all, allFree] = [0, 0];
  for (const model of BUILT_IN_MODELS) {
    const charged = serveBurst({ model, scheduling: 'killRestart', seed, ...load });
    const free = serveBurst({ model, scheduling: 'killRestart', verdictCosts: FREE_VERDICTS, seed, ...load });
    if (charged.outputs.join() !== free.outputs.join()) throw new Error(`${model}: outputs differ`);
    all += charged.makespanUs;
    allFree += free.makespanUs;
    row(model, name, charged.verdicts, charged.makespanUs, free.makespanUs);
  }
  row('all', name, undefined, all, allFree);
}

folder.writeJson('overhead.json', { seed, queries, added });
folder.write(
  'overhead.svg',
  renderBars({
    title: 'What verdicts at launch add to the time of serving',
    subtitle: `${queries} queries of each model on one simulated H200; virtual time, seed ${seed}`,
    yLabel: 'added (%)',
    groups: LOADS.map(({ name }, color) => ({
      name,
      bars: added
        .filter(({ load }) => load === name)
        .map(({ model, percent }) => ({
          name: model.replace('digits-', '').split('-'),
          value: percent,
          text: percent.toFixed(2),
          color,
        })),
    })),
  }),
);

function row(model: string, load: string, verdicts: number | undefined, us: number, freeUs: number): void {
  const percent = 100 * (us / freeUs - 1);
  added.push({ model, load, percent });
  folder.print(
    `| ${model} | ${load} | ${verdicts ?? ''} | ${us.toFixed(1)} | ${freeUs.toFixed(1)} | ${percent.toFixed(2)} % |\n`,
  );
}
