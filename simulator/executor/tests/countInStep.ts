/**
 * Tells which kernels of folders of PTX run with their lanes in step, and before which lines lanes wait for one another:
 *   npm run build && node dist/simulator/executor/tests/countInStep.js [folder …]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModule, type IrModule } from '../../ptx/index.js';
import { analyseKernel } from '../compiler/analysis/index.js';
import { loadModule, NodeMemory } from '../index.js';

const given = process.argv.slice(2);
const folders = given.length === 0 ? ['simulator', 'loadtest', 'containers', 'docs'] : given;
const paths = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ptx'))
    .map((name) => join(folder, name)),
);

/** Texts that no parser takes are no kernels; some are kept for that. */
function parsed(path: string): IrModule | undefined {
  try {
    const space = new NodeMemory({ backingBytes: 2 ** 24 }).createSpace();
    return loadModule(parseModule(readFileSync(path, 'utf8'), path), space).ir;
  } catch {
    return undefined;
  }
}

let [kernels, gated] = [0, 0];
for (const path of paths.sort()) {
  const module = parsed(path);
  for (const fn of module?.functions ?? []) {
    if (module === undefined || fn.refusal !== undefined) continue;
    kernels += 1;
    const { cuts, isInStep } = analyseKernel(module, fn, false);
    if (!isInStep) continue;
    gated += 1;
    const lines = cuts.graph.syncPoints
      .filter(({ scope }) => scope === 'step')
      .map(({ instruction }) => fn.instructions[instruction]?.line ?? 0);
    const places = [...new Set(lines)].sort((a, b) => a - b).join(' ');
    process.stdout.write(`${path} ${fn.name}: ${places}\n`);
  }
}
process.stdout.write(`${gated} of ${kernels} kernels\n`);
