/**
 * How many deliberate mistakes of a validator the oracles catch: each mistake is made in what analysis found of the corpus'
 * kernels, and launches are judged by the mistaken validator until an oracle contradicts it. Writes mutants.md and
 * mutants.json and prints the table.
 * Usage: npm run experiment idempotency/mutants -- [--folder FOLDER] [--seed N] [--launches L] [--kills K] [--step N] [--only MISTAKE ...] [--family NAME ...]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import {
  hunt,
  labelledBodies,
  MUTATIONS,
  OracleRandom,
} from '../../../simulator/laboratory/verdicts/index.js';
import { systemValidator } from './validation.js';

const {
  values: options,
  seed,
  folder,
} = experimentArguments('idempotency/mutants', EXPERIMENTS['idempotency/mutants']);
// Families mixed: most mistakes show soon.
const all = labelledBodies().filter(
  ({ body }) => options.family.length === 0 || options.family.includes(body.manifest.family),
);
const bodies = new OracleRandom(seed)
  .order(all.length)
  .flatMap((place, index) => (index % Number(options.step) === 0 ? (all[place] ?? []) : []));
const mutations = MUTATIONS.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
const found = hunt(mutations, systemValidator(), bodies, {
  launches: Number(options.launches),
  kills: Number(options.kills),
});
const rows = found.map(({ mutation, caught, bodies: changed, launches }) => {
  const what = MUTATIONS.find(({ name }) => name === mutation)?.what ?? '';
  const by =
    caught === undefined ? 'not caught' : `${caught.oracle}: ${caught.body}, launch ${caught.instance}`;
  return `| ${mutation} | ${what} | ${by} | ${changed} | ${launches} |`;
});
const caught = found.filter((each) => each.caught !== undefined).length;
const text =
  `${caught} of ${found.length} mistakes caught (${((100 * caught) / found.length).toFixed(1)} %).\n\n` +
  `| mistake | what | caught by | bodies that it changed until then | launches |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
process.stdout.write(text);
folder.write('mutants.md', text);
folder.writeJson('mutants.json', { found });
