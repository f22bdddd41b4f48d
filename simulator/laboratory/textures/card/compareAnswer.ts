import { inflateSync } from 'node:zlib';
import { reasonOf } from '../../../text/index.js';
import { answerExperiment } from './answerExperiment.js';
import type { Experiment } from './textureRun.js';

/** Where the simulator answers an experiment otherwise than a card, in words; undefined where all words agree. */
export function compareAnswer(experiment: Experiment): string | undefined {
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
