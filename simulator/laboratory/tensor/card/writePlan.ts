/**
 * Writes all that a card's run needs into a folder: modules assembled for sm_90a, inputs, and `plan.json`.
 *   node dist/simulator/laboratory/tensor/card/writePlan.js DIR
 * Needs `ptxas`. `README.md` says how the run goes on.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../files/index.js';
import { moveForms, tileForms } from '../forms/index.js';
import { header, moveKernel, tileKernel } from '../probes/index.js';
import { programPlans } from '../programs/index.js';
import { timingKernels, timingModule } from '../timing/index.js';
import { kernelOf, moduleOf, PlanBytes, planForms } from './plan.js';

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('usage: writePlan.js DIR\n');
  process.exitCode = 1;
} else write(folder);

function write(target: string): void {
  const room = join(packageRoot(), 'simulator/laboratory/tensor');
  mkdirSync(target, { recursive: true });
  const bytes = new PlanBytes();
  const forms = planForms(bytes);
  const modules = new Map<string, string[]>();
  [...tileForms, ...moveForms].forEach((form, index) => {
    const text = 'shape' in form ? tileKernel(kernelOf(index), form) : moveKernel(kernelOf(index), form);
    const texts = modules.get(moduleOf(index)) ?? [];
    texts.push(text);
    modules.set(moduleOf(index), texts);
  });
  for (const [name, texts] of modules) assemble(target, name, header + texts.join('\n'));
  assemble(target, 'generator', readFileSync(join(room, 'probes/generator.ptx'), 'utf8'));
  assemble(target, 'timing', timingModule());
  const programs = programPlans();
  for (const { ptx } of programs)
    assemble(target, `program_${ptx.replace('.ptx', '')}`, readFileSync(join(room, 'programs', ptx), 'utf8'));
  writeFileSync(join(target, 'plan.bin'), bytes.all());
  writeFileSync(join(target, 'plan.json'), JSON.stringify({ ...forms, timing: timingKernels() }));
  writeFileSync(join(target, 'programs.json'), JSON.stringify(programs));
  for (const script of ['runTensor.py', 'fakeDriver.py'])
    cpSync(join(room, 'card', script), join(target, script));
  process.stdout.write(
    `${forms.forms.length} forms, ${timingKernels().length} timed launches, ${programs.length} programs\n`,
  );
}

function assemble(target: string, name: string, text: string): void {
  const source = join(target, `${name}.ptx`);
  writeFileSync(source, text);
  // Its advice on `mma.sp` is not wanted.
  execFileSync('ptxas', ['-arch=sm_90a', source, '-o', join(target, `${name}.cubin`)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  rmSync(source);
}
