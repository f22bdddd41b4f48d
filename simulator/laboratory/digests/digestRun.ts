import { appendFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SECTIONS, type Extent } from './sections.js';

/**
 * Writes what must stay as it is where a change moves code alone: digests of every kernel that there is as read and compiled, of
 * its machine code, registers and verdict, of what programs leave and count, of random kernels, of what checkers find, and the
 * times of measured launches. Before the change and after it, then compared:
 *
 *     node dist/simulator/laboratory/digests/digestRun.js before.txt [--sections code,verdicts] [--one-in 8] [--seeds 300] [--largest 18]
 *     diff before.txt after.txt
 */
function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sections: { type: 'string', default: Object.keys(SECTIONS).join(',') },
      'one-in': { type: 'string', default: '8' },
      seeds: { type: 'string', default: '300' },
      largest: { type: 'string', default: '18' },
    },
  });
  const [path] = positionals;
  if (path === undefined) throw new RangeError('name the file to write');
  const extent: Extent = {
    oneIn: count('one-in', values['one-in']),
    seeds: count('seeds', values.seeds),
    largest: count('largest', values.largest),
  };
  writeFileSync(path, '');
  for (const name of values.sections.split(',')) {
    if (!isSection(name))
      throw new RangeError(`--sections: '${name}' is none of ${Object.keys(SECTIONS).join(', ')}`);
    let lines = 0;
    for (const line of SECTIONS[name](extent)) {
      appendFileSync(path, `${line}\n`);
      lines++;
    }
    process.stderr.write(`${name}: ${lines} lines\n`);
  }
}

function isSection(name: string): name is keyof typeof SECTIONS {
  return Object.hasOwn(SECTIONS, name);
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`--${name} must be a positive integer, got '${text}'`);
}

main();
