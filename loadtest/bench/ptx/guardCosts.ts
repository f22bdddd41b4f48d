/**
 * node dist/loadtest/bench/ptx/guardCosts.js [KERNEL ...]: what protection, counters, fuel and the card's NaN cost each
 * kernel of the bench: its time without them, one by one, in processes of their own.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BENCH_KERNELS, partName, requireKernels } from './benchKernels.js';
import { GUARDS, takeOut, type Guard } from './guardVariants.js';
import { PtxRun } from './ptxRun.js';
import { distribution } from './statistics.js';
import { warmUp } from './warmUp.js';

const RUNS = 15;

const [first, ...rest] = process.argv.slice(2);
if (first === '--measure') {
  const [guard, launch] = rest;
  await takeOut(guard as Guard);
  process.stdout.write(String(measure(launch ?? '')));
} else {
  const wanted = process.argv.slice(2);
  requireKernels(wanted);
  process.stdout.write(
    `| kernel | ms | ${GUARDS.slice(1).join(' | ')} |\n|${' --- |'.repeat(GUARDS.length + 1)}\n`,
  );
  for (const kernel of BENCH_KERNELS) {
    if (wanted.length > 0 && !wanted.includes(partName(kernel))) continue;
    const { name, launch } = kernel;
    const [full = NaN, ...without] = GUARDS.map((guard) => inProcess(guard, launch));
    const shares = without.map((ms) => `${((1 - ms / full) * 100).toFixed(0)} %`);
    process.stdout.write(`| ${name} | ${full.toFixed(1)} | ${shares.join(' | ')} |\n`);
  }
}

/** The lesser of two processes, which a busy machine disturbs less. */
function inProcess(guard: Guard, launch: string): number {
  const script = fileURLToPath(import.meta.url);
  const once = () =>
    Number(execFileSync(process.execPath, [script, '--measure', guard, launch], { encoding: 'utf8' }));
  return Math.min(once(), once());
}

function measure(launch: string): number {
  const run = new PtxRun(launch);
  warmUp(run);
  return distribution(Array.from({ length: RUNS }, () => run.run().timing.cpuMs)).median;
}
