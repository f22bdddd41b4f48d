import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { reasonOf } from '../../../text/index.js';
import { answerExperiment } from './answerExperiment.js';
import type { Experiment, TextureRun } from './textureRun.js';

/**
 * Says of every experiment of a run on a card how many of its words the simulator answers otherwise, and the first of them.
 *
 * usage: node dist/simulator/laboratory/textures/card/readRun.js RESULTS.json [PATTERN]
 */
function main([path, pattern = '']: readonly string[]): void {
  if (path === undefined) throw new Error('usage: readRun.js RESULTS.json [PATTERN]');
  const run = JSON.parse(readFileSync(path, 'utf8')) as TextureRun;
  const chosen = run.experiments.filter(({ name }) => new RegExp(pattern).test(name));
  let alike = 0;
  for (const experiment of chosen) {
    const line = compare(experiment);
    if (line === undefined) alike += 1;
    else process.stdout.write(`${experiment.name}: ${line}\n`);
  }
  process.stdout.write(
    `${alike} of ${chosen.length} experiments are answered to the bit (${run.card.join(', ')})\n`,
  );
}

/** Undefined where all words agree. */
function compare(experiment: Experiment): string | undefined {
  if (experiment.error !== undefined) return `the card said ${experiment.error}`;
  let own;
  try {
    own = answerExperiment(experiment);
  } catch (error) {
    return `not answered here: ${reasonOf(error)}`;
  }
  const { results, left } = own;
  return differences(experiment.results, results) ?? differences(experiment.left, left);
}

function differences(card: string | undefined, own: Uint32Array): string | undefined {
  if (card === undefined) return undefined;
  const bytes = inflateSync(Buffer.from(card, 'base64'));
  const words = new Uint32Array(new Uint8Array(bytes).buffer);
  const wrong = [...words.keys()].filter((index) => words[index] !== own[index]);
  const [first] = wrong;
  if (first === undefined) return undefined;
  const shown = (word = 0): string => `0x${word.toString(16)} (${asFloat(word)})`;
  return `${wrong.length} of ${words.length} words differ; word ${first} is ${shown(words[first])}, here ${shown(own[first])}`;
}

function asFloat(word: number): number {
  return new Float32Array(new Uint32Array([word]).buffer)[0] ?? 0;
}

main(process.argv.slice(2));
