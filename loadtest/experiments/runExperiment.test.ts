import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import { EXPERIMENTS } from './experimentList.js';
import { EXPERIMENT_NAMES, runExperiment } from './runExperiment.js';

/** Nothing in them is drawn: measurements of a card, launches and labels that are files. */
const WITHOUT_SEED = [
  'concurrency',
  'errorsToday',
  'gpuTime',
  'gpuTimeAblation',
  'idempotency/cover',
  'idempotency/heldOut',
  'idempotency/table',
];

let folder: string;
let said: string;
let argv: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-experiment-'));
  said = '';
  argv = process.argv;
  process.argv = argv.slice(0, 2);
});
afterEach(() => {
  process.argv = argv;
  rmSync(folder, { recursive: true });
});

const run = (name?: string, ...words: string[]): Promise<void> =>
  runExperiment(name, words, (text) => (said += text));

describe('every experiment', () => {
  it('is on the page of experiments, those with a row with the time that they say', () => {
    const page = readFileSync('docs/experiments/README.md', 'utf8');
    const rows = new Map(
      [...page.matchAll(/^\| \[([\w/]+)\]\((\w+)\/README\.md\) \| ([^|]+) \|/gm)].map(
        ([, name, folderOf, takes]) => [name, { folderOf, takes }],
      ),
    );
    for (const [name, { folder: folderOf, usually }] of Object.entries(EXPERIMENTS)) {
      const row = rows.get(name);
      if (row === undefined) expect(page, name).toMatch(new RegExp(`\`${name}\`|\\[${folderOf}/`));
      else expect([name, row.folderOf, usually.startsWith(row.takes)]).toEqual([name, folderOf, true]);
    }
    expect(rows.size).toBeGreaterThan(20);
  });

  it('is one of those that are named, and a program that is there', async () => {
    const programs = ['.', 'idempotency'].flatMap((room) =>
      readdirSync(join('loadtest/experiments', room))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => join(room, file)),
    );
    const asked = programs.flatMap((file) => {
      const text = readFileSync(join('loadtest/experiments', file), 'utf8');
      return [...text.matchAll(/experimentArguments\(\s*'([^']+)'/g)].map(([, name]) => name);
    });
    const listed = EXPERIMENT_NAMES.filter((name) => !name.startsWith('scenarios/'));
    expect(asked.sort()).toEqual([...listed].sort());
    expect(Object.keys(EXPERIMENTS).sort()).toEqual([...listed].sort());
    await expect(run()).rejects.toThrow(`there are: ${EXPERIMENT_NAMES.join(', ')}`);
    await expect(run('regrets')).rejects.toThrow("there is no experiment 'regrets'; did you mean regret?");
  });

  it.each(EXPERIMENT_NAMES)(
    '%s says how long it usually takes, and takes a seed where it draws',
    async (name) => {
      await run(name, '--help');
      expect(said).toMatch(/\nusually (about|some) .*(second|minute|hour)/);
      expect(said.includes('[--seed N]')).toBe(!WITHOUT_SEED.includes(name));
      expect(said).toContain('[--folder FOLDER]');
    },
  );

  it.each(EXPERIMENT_NAMES)('%s refuses what it does not take, naming what it takes', async (name) => {
    const refused = run(name, '--folders', folder);
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(refused).rejects.toThrow(
      /no option --folders; did you mean --folder\? There are: .*--folder/,
    );
    if (name !== 'errorsToday') await expect(run(name, folder)).rejects.toThrow(ArgumentError);
    if (WITHOUT_SEED.includes(name))
      await expect(run(name, '--seed', '1')).rejects.toThrow('no option --seed');
    else
      await expect(run(name, '--seed', 'x')).rejects.toThrow(
        "--seed must be a whole number up to 2147483647, not 'x'",
      );
    expect(said).toBe('');
  });
});

it('keeps its tables and its plot in the folder, by the seed that it is given', async () => {
  await run('scenarios/clipper', '--seed', '7', '--folder', folder);
  expect(said).toMatch(/^scenarios\/clipper: usually about/);
  const table = readFileSync(join(folder, 'clipper.md'), 'utf8');
  expect(table).toContain('| run | queries/s |');
  expect(readFileSync(join(folder, 'clipper.svg'), 'utf8')).toContain('seed 7');
  expect(readFileSync(join(folder, '200-a-second.json'), 'utf8')).toMatch(/"seed": ?7\b/);
  const other = join(folder, 'other');
  await run('scenarios/clipper', '--folder', other);
  expect(readFileSync(join(other, 'clipper.md'), 'utf8')).not.toBe(table);
});

it('runs as a program of its own', async () => {
  await run('predictPath', '--queries', '1000', '--folder', folder);
  for (const file of ['predictPath.md', 'predictPath.json', 'predictPath.svg']) {
    expect(existsSync(join(folder, file)), file).toBe(true);
  }
});

it('says what was wrong with a value', () => {
  const description = { folder: 'x', seed: 1, options: { only: { type: 'string' } } } as const;
  const from = (...words: string[]) => experimentArguments('x', description, [...words, '--folder', folder]);
  expect(from('--only', 'a')).toMatchObject({ values: { only: 'a' }, seed: 1 });
  expect(from('--seed=5').seed).toBe(5);
  expect(() => from('--only')).toThrow(ArgumentError);
});
