/**
 * In a process of its own, times each of the simulator's CUDA programs of at least 350 instructions from its PTX text to
 * its first result and to its steady speed; prints a JSON line for each. Programs below that run first, as others have on a
 * node that serves; with `cold` they do not.
 */
import { kernelFixtures, type KernelFixture } from '../../../simulator/laboratory/kernels/index.js';
import { instructionsOf, Program, textOf } from './program.js';
import { timed } from './stopwatch.js';
import { steadyFrom, type StartTimes, type TimedRun } from './startTimes.js';

const LEAST_INSTRUCTIONS = 350;
/** Launches go on for so long, to see what speed they keep. */
const RUN_ON_MS = 1200;

const [mode, only] = process.argv.slice(2);
const large = kernelFixtures.filter((fixture) => instructionsOf(fixture) >= LEAST_INSTRUCTIONS);
if (mode === 'list') {
  for (const { name } of large) process.stdout.write(`${JSON.stringify(name)}\n`);
} else {
  if (mode === 'warm') for (const fixture of kernelFixtures) if (!large.includes(fixture)) runOnce(fixture);
  for (const fixture of large) {
    if (only !== undefined && fixture.name !== only) continue;
    process.stdout.write(`${JSON.stringify(start(fixture))}\n`);
  }
}

function runOnce(fixture: KernelFixture): void {
  const program = new Program(fixture);
  program.load(textOf(fixture));
  program.run();
}

function start(fixture: KernelFixture): StartTimes {
  const program = new Program(fixture);
  const text = textOf(fixture);
  const from = performance.now();
  const { timing } = timed(() => {
    program.load(text);
    program.run();
  });
  const { wallMs: firstMs, cpuMs: firstCpuMs } = timing;
  const runs: TimedRun[] = [];
  for (let at = firstMs; at < firstMs + RUN_ON_MS; at = performance.now() - from) {
    program.fill();
    const fromMs = performance.now() - from;
    program.run();
    runs.push({ fromMs, ms: performance.now() - from - fromMs });
  }
  return {
    name: fixture.name,
    instructions: instructionsOf(fixture),
    firstMs,
    firstCpuMs,
    steadyMs: steadyFrom(runs),
  };
}
