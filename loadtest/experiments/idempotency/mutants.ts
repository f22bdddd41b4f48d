/**
 * How many deliberate mistakes of a validator the oracles catch: each mistake is made in what analysis found of the corpus'
 * kernels, and launches are judged by the mistaken validator until an oracle contradicts it. Writes mutants.md and
 * mutants.json and prints the table.
 * Usage: npm run experiment idempotency/mutants -- [folder] [--launches L] [--kills K] [--step N] [--only MISTAKE ...] [--family NAME ...]
 */
import { parseArgs } from 'node:util';
import {
  hunt,
  labelledBodies,
  MUTATIONS,
  OracleRandom,
} from '../../../simulator/laboratory/verdicts/index.js';
import { ResultFolder } from '../resultFolder.js';
import { systemValidator } from './validation.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    launches: { type: 'string', default: '20' },
    kills: { type: 'string', default: '4' },
    step: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: [] },
    family: { type: 'string', multiple: true, default: [] },
  },
});
// Families mixed: most mistakes show soon.
const all = labelledBodies().filter(
  ({ body }) => options.family.length === 0 || options.family.includes(body.manifest.family),
);
const bodies = new OracleRandom(1)
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
const folder = new ResultFolder('idempotency', positionals[0]);
folder.write('mutants.md', text);
folder.writeJson('mutants.json', { found });
