/**
 * Runs the reference launches with at most 2^24 elements and prints what they cost in processor time:
 *   npm run build && node dist/simulator/executor/tests/runReferences.js [name part] [most elements]
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NodeMemory, WasmExecutor } from '../index.js';
import { elementsOf, placeLaunch, readSpec } from './referenceLaunch.js';

const folder = 'simulator/gpu/reference/launches';
const part = process.argv[2] ?? '';
const mostElements = Number(process.argv[3] ?? 2 ** 24);

/** Processor time of this process: a busy host does not blur it. */
const seconds = (): number => process.cpuUsage().user / 1e6;

let instructions = 0;
let total = 0;
let wrong = 0;
for (const name of readdirSync(folder)) {
  const path = join(folder, name);
  const spec = readSpec(path);
  if (!name.includes(part) || elementsOf(spec) > mostElements) continue;
  const memory = new NodeMemory();
  const { launch, outputs } = placeLaunch(spec, path, memory.createSpace());
  const executor = new WasmExecutor(memory, { vectorAfter: 0 });
  const blocks = spec.grid[0] * spec.grid[1] * spec.grid[2];
  const start = seconds();
  const result = executor.run(launch, { lo: 0, hi: blocks }, 'fast', 1e12);
  const took = seconds() - start;
  const count = result.counters.threadInstructions;
  instructions += count;
  total += took;
  const output = outputs()[0] ?? new Float32Array();
  let differing = 0;
  for (const [index, expected] of Object.entries(spec.expect?.samples ?? {})) {
    if (Math.fround(output[Number(index)] ?? NaN) !== Math.fround(expected)) differing += 1;
  }
  if (differing > 0 || result.status !== 'done') wrong += 1;
  const rate = (count / took / 1e9).toFixed(2);
  const what =
    result.status === 'fault'
      ? result.fault.message
      : differing === 0
        ? 'right'
        : `${differing} samples differ`;
  console.log(
    `${took.toFixed(3).padStart(8)} s ${rate.padStart(6)} G thread-instructions/s  ${name}: ${what}`,
  );
}
console.log(
  `${total.toFixed(1)} s, ${(instructions / 1e9).toFixed(2)} G thread-instructions, ` +
    `${(instructions / total / 1e9).toFixed(2)} G/s; ${wrong} wrong`,
);
