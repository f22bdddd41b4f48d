import { checkDamagedText } from './mutationCheck.js';
import { mutationSources } from './mutationSources.js';
import { Mutator } from './mutator.js';

/**
 * Reads many damaged texts and reports crashes and slow ones:
 * `node dist/simulator/ptx/tests/mutationRun.js [COUNT] [FIRST SEED]`, from the root of the repository.
 */
/** Of processor time: the machine's other work is no fault of the parser. */
const longestMs = 1000;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const count = Number(process.argv[2] ?? 100_000);
const firstSeed = Number(process.argv[3] ?? 1);
const sources = mutationSources('.');
const outcomes = { parsed: 0, refused: 0, crashed: 0, slow: 0 };
let slowestMs = 0;
let characters = 0;
const start = cpuMs();
for (let seed = firstSeed; seed < firstSeed + count; seed++) {
  const text = new Mutator(seed, sources).mutate(sources[seed % sources.length] ?? '');
  characters += text.length;
  const begin = cpuMs();
  try {
    outcomes[checkDamagedText(text)]++;
  } catch (error) {
    outcomes.crashed++;
    console.log(`seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  const took = cpuMs() - begin;
  slowestMs = Math.max(slowestMs, took);
  if (took > longestMs) {
    outcomes.slow++;
    console.log(`seed ${seed}: ${Math.round(took)} ms for ${text.length} characters`);
  }
}
console.log(
  `${count} damaged texts of ${sources.length} sources, seeds ${firstSeed} to ${firstSeed + count - 1}: ` +
    `${outcomes.parsed} parsed, ${outcomes.refused} refused with a line, ${outcomes.crashed} crashed, ` +
    `${outcomes.slow} over ${longestMs} ms; slowest ${Math.round(slowestMs)} ms, ` +
    `${Math.round(characters / 1e6)} MB in ${Math.round((cpuMs() - start) / 1000)} s of processor time`,
);
process.exitCode = outcomes.crashed + outcomes.slow > 0 ? 1 : 0;
