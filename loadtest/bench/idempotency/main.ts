/**
 * `npm run bench:idempotency [-- latency scaling ablation] [--most N] [--runs N]`: what a verdict takes on the host, launch by
 * launch (each timed by itself, none remembered), its growth with the grid and with loops, and what each step from
 * enumeration to generated code brings.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { parseArgs } from 'node:util';
import {
  analyzeKernel,
  compileValidator,
  type ValidatedLaunch,
} from '../../../simulator/idempotency/index.js';
import { validatorInMode, type ValidatorMode } from '../../../simulator/laboratory/validatorModes/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';
import { quantile } from '../../../simulator/statistics/index.js';
import { conditionalKernels } from './conditionalKernels.js';
import { layerLaunches } from './layers.js';
import { leastOf, timeCalls, type CallTimes } from './timing.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: 'string', default: '8' }, runs: { type: 'string', default: '1000' } },
});
const wants = (part: string): boolean => positionals.length === 0 || positionals.includes(part);
const most = Number(values.most);
const runs = Number(values.runs);
// On a busy machine compiling beside the run comes too late for a warmed function.
setFlagsFromString('--no-concurrent-recompilation');
/** Calls after which a kernel's function is compiled for good. */
const WARM_CALLS = 5_000;

if (wants('latency')) latency();
if (wants('scaling')) scaling();
if (wants('ablation')) ablation();

function latency(): void {
  const byFamily = new Map<string, CallTimes[]>();
  for (const { body, summary, launches } of conditionalKernels(most, () => true)) {
    const validator = compileValidator(summary);
    const [first] = launches;
    if (first === undefined) continue;
    for (let call = 0; call < WARM_CALLS; call++) validator.judge(first);
    const times = launches.map((launch) => {
      for (let call = 0; call < 200; call++) validator.judge(launch);
      return leastOf(3, () => validator.judge(launch), runs);
    });
    byFamily.set(body.manifest.family, [...(byFamily.get(body.manifest.family) ?? []), ...times]);
  }
  const all = [...byFamily.values()].flat();
  print(
    'family',
    'launches',
    'median (µs)',
    'median ≤ 1 µs',
    'p99 ≤ 5 µs',
    'worst p99 (µs)',
    'max ≤ 1 µs',
    'max ≤ 5 µs',
  );
  print(...Array.from({ length: 8 }, () => '---'));
  for (const [family, times] of [...byFamily, ['all', all] as const]) {
    const share = (pick: (each: CallTimes) => number, limitNs: number): string =>
      `${((100 * times.filter((each) => pick(each) <= limitNs).length) / times.length).toFixed(2)} %`;
    print(
      family,
      times.length,
      micros(
        quantile(
          times.map((each) => each.medianNs),
          0.5,
        ),
      ),
      share((each) => each.medianNs, 1_000),
      share((each) => each.p99Ns, 5_000),
      micros(Math.max(...times.map((each) => each.p99Ns))),
      share((each) => each.mostNs, 1_000),
      share((each) => each.mostNs, 5_000),
    );
  }
}

/** Medians of one block of 32 threads and of 65,535 blocks of 1,024; of 16 iterations and of a million. */
function scaling(): void {
  const ratios: number[] = [];
  for (const { summary, launches } of conditionalKernels(1, () => true)) {
    const [launch] = launches;
    if (launch === undefined) continue;
    const validator = compileValidator(summary);
    const small: ValidatedLaunch = { ...launch, shape: { grid: [1, 1, 1], block: [32, 1, 1] } };
    const large: ValidatedLaunch = { ...launch, shape: { grid: [65_535, 1, 1], block: [1_024, 1, 1] } };
    // Where the verdicts differ one may end at its first overlap: no comparison.
    if (validator.judge(small) !== validator.judge(large)) continue;
    for (let call = 0; call < WARM_CALLS; call++) validator.judge(call % 2 === 0 ? small : large);
    const [a, b] = [small, large].map((each) => leastOf(3, () => validator.judge(each), runs).medianNs);
    ratios.push((b ?? 0) / (a ?? 1));
  }
  process.stdout.write(
    `\n65,535 blocks of 1,024 threads over one of 32: ${ratios.length} kernels, median ${quantile(ratios, 0.5).toFixed(2)}, ` +
      `p99 ${quantile(ratios, 0.99).toFixed(2)}, most ${quantile(ratios, 1).toFixed(2)}\n`,
  );
  const module = parseModule(readFileSync('loadtest/bench/idempotency/relu.ptx', 'utf8'), 'relu.ptx');
  const validator = compileValidator(analyzeKernel(module, 'relu'));
  const launchOf = (n: number): ValidatedLaunch => {
    const params = new Uint8Array(20);
    const view = new DataView(params.buffer);
    view.setBigUint64(0, 2n ** 45n, true);
    view.setBigUint64(8, 2n ** 46n, true);
    view.setInt32(16, n, true);
    return { params, shape: { grid: [4, 1, 1], block: [128, 1, 1] } };
  };
  const [short, long] = [launchOf(16), launchOf(1_000_000)];
  for (let call = 0; call < WARM_CALLS; call++) validator.judge(call % 2 === 0 ? short : long);
  const [a, b] = [short, long].map((each) => leastOf(3, () => validator.judge(each), runs).medianNs);
  process.stdout.write(
    `a million iterations over 16: ${((b ?? 0) / (a ?? 1)).toFixed(2)} (${micros(a ?? 0)} and ${micros(b ?? 0)} µs)\n`,
  );
}

/** Verdict times on kernels with constant shapes, as compilers of models write them, by mode. */
function ablation(): void {
  const modes: readonly ValidatorMode[] = ['strawman', 'ranges', 'compacted'];
  const medians: Record<ValidatorMode, number[]> = { strawman: [], ranges: [], compacted: [] };
  for (const { summary, launch } of layerLaunches()) {
    for (const mode of modes) {
      const validator = validatorInMode(summary, { mode });
      const isSlow = mode === 'strawman';
      for (let call = 0; call < (isSlow ? 1 : WARM_CALLS); call++) validator.judge(launch);
      medians[mode].push(timeCalls(() => validator.judge(launch), isSlow ? 3 : runs).medianNs);
    }
  }
  process.stdout.write('\n');
  print('mode', 'launches', 'median (µs)', 'most (µs)', '> 1 ms', '< 100 µs', '< 1 µs');
  print(...Array.from({ length: 7 }, () => '---'));
  for (const mode of modes) {
    const times = medians[mode];
    const share = (isIn: (ns: number) => boolean): string =>
      `${((100 * times.filter(isIn).length) / times.length).toFixed(1)} %`;
    print(
      mode,
      times.length,
      micros(quantile(times, 0.5)),
      micros(quantile(times, 1)),
      share((ns) => ns > 1e6),
      share((ns) => ns < 1e5),
      share((ns) => ns < 1e3),
    );
  }
}

function print(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function micros(ns: number): string {
  return (ns / 1e3).toFixed(2);
}
