/**
 * Clipper's table 2: five networks of its shapes behind one application of a running server, each served in another way, and what their
 * ensemble gets. Writes kindsOfModels.json, kindsOfModels.md and kindsOfModels.svg; with `--train` the weights of a network instead.
 * Usage: npm run experiment kindsOfModels [-- --seed N] [--folder FOLDER] [--queries QUERIES] [--train NAME …]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { percent } from '../../simulator/text/index.js';
import { renderBars } from '../report/index.js';
import { makeKinds } from './kinds/kindsOfModels.js';
import { measureKinds } from './kinds/measureKinds.js';
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import { TABLE_2 } from './networkDesigns.js';
import { trainedWeights, weightPath } from './trainedNetworks.js';

const { seed, folder, values } = experimentArguments('kindsOfModels', EXPERIMENTS.kindsOfModels);
const queries = Number(values.queries);
if (!(Number.isInteger(queries) && queries >= 1 && queries <= 2000))
  throw new ArgumentError(`--queries must be a whole number from 1 to 2000, not '${values.queries}'`);
const names = TABLE_2.map(({ name }) => name);
const unknown = values.train.find((name) => !names.includes(name));
if (unknown !== undefined)
  throw new ArgumentError(`--train must be one of ${names.join(', ')}, not '${unknown}'`);

if (values.train.length > 0) train(values.train);
else await run();

function train(networks: readonly string[]): void {
  for (const name of networks) {
    const path = weightPath(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, trainedWeights(name, seed));
    process.stdout.write(`${path}\n`);
  }
}

async function run(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'windjammer-kinds-'));
  try {
    const measured = await measureKinds(makeKinds(scratch, seed), queries, seed);
    const rows = [...measured.singles, measured.ensemble];
    const { agreed, agreedError, missing } = measured.ensemble;
    const kept = rows.map(({ name, way, error, p50Ms, p99Ms, defaults }) => {
      return { name, way, error, p50Ms, p99Ms, defaults };
    });
    folder.writeJson('kindsOfModels.json', { seed, queries, rows: kept, agreed, agreedError, missing });
    folder.write(
      'kindsOfModels.svg',
      renderBars({
        title: 'The networks of table 2 behind one application',
        subtitle: `${queries} held-out digits, one after the other, on a running server; exp4 with feedback on each`,
        yLabel: 'error',
        groups: [
          { name: 'each by itself', bars: measured.singles },
          { name: 'together', bars: [measured.ensemble] },
        ].map(({ name, bars }, group) => ({
          name,
          bars: bars.map((row) => ({
            name: [row.name, `${row.p50Ms.toFixed(1)} ms`],
            value: row.error,
            text: percent(row.error, 2),
            color: group,
          })),
        })),
      }),
    );
    folder.print(
      '| model | served as | error | p50 | p99 | defaults |\n| --- | --- | --- | --- | --- | --- |\n',
    );
    for (const { name, way, error, p50Ms, p99Ms, defaults } of rows)
      folder.print(
        `| ${name} | ${way} | ${percent(error, 2)} | ${p50Ms.toFixed(1)} ms | ${p99Ms.toFixed(1)} ms | ${percent(defaults, 2)} |\n`,
      );
    folder.print(
      `\nAll agree on ${percent(agreed, 1)} of digits, with an error of ${percent(agreedError, 2)}; ${percent(missing, 2)} of predictions were missing at the deadline.\n`,
    );
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
