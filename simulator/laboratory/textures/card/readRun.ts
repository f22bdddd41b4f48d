import { readFileSync } from 'node:fs';
import { compareAnswer } from './compareAnswer.js';
import type { TextureRun } from './textureRun.js';

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
    const line = compareAnswer(experiment);
    if (line === undefined) alike += 1;
    else process.stdout.write(`${experiment.name}: ${line}\n`);
  }
  process.stdout.write(
    `${alike} of ${chosen.length} experiments are answered to the bit (${run.card.join(', ')})\n`,
  );
}

main(process.argv.slice(2));
