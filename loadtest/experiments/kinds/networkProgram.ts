/**
 * A network of images as a program of its own, for any container that runs one: lines of JSON in and out, one for each input.
 * Usage: node networkProgram.js network.json
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { imageProbabilities, type ImageNetwork } from '../../../containers/models/testing/index.js';

const network = JSON.parse(readFileSync(process.argv[2], 'utf8')) as ImageNetwork;
const probabilities = imageProbabilities(network);
process.stdout.write('{"ready": true, "input_length": 784, "max_batch_size": 64}\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, input } = JSON.parse(line) as { readonly id: number; readonly input: readonly number[] };
  const scores = [...probabilities(Float32Array.from(input))];
  const output = `${scores.indexOf(Math.max(...scores))}`;
  process.stdout.write(`${JSON.stringify({ id, output, scores })}\n`);
});
