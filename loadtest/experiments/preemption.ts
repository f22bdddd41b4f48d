/**
 * What preemption costs those who wait and those who are preempted, on a V100 in virtual time: the latency of three levels of
 * preemption against the length of the kernel that runs (XSched, OSDI'25), and a language model's launches beside critical
 * queries under every scheduling policy (PICKER, EuroSys'26, preemptive scheduling). Kernels are told by their times and
 * footprints; verdicts are drawn. Beside it a smaller part whose kernels run: a decoder's requests under every policy, what they leave
 * compared byte for byte. Writes preemption.json and preemption.svg, and prints the tables.
 * Usage: npm run experiment preemption [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { profileNamed } from '../../simulator/gpu/index.js';
import { SCHEDULING_POLICY_NAMES } from '../../simulator/scheduling/index.js';
import { latencyPoint, type Level } from './preemption/latencyLines.js';
import { criticalQuery, languageModelJob } from './preemption/languageModelJob.js';
import { latencyFigure } from './preemption/latencyFigure.js';
import { functionalStudy } from './preemption/functionalStudy.js';
import { preemptEachLaunch } from './preemption/eachLaunch.js';
import { SCHEMES } from './preemption/schemes.js';
import { sharedStudy } from './preemption/sharedStudy.js';

const { seed, folder } = experimentArguments('preemption', EXPERIMENTS.preemption);
const LENGTHS_US = [100, 500, 1000, 2000];
/** Stands for a kernel without an end. */
const ONE_SECOND_US = 1e6;
const LEVELS: readonly (readonly [Level, string])[] = [
  [1, 'fifo'],
  [2, 'priority'],
  [3, 'contextSwitch'],
  [3, 'killRestart'],
];
const SAMPLES = 500;
const JOB = { kernels: 50, idempotentShare: 0.663, wholeKernels: 8, seed };
const FUNCTIONAL = {
  size: { layers: 2, width: 256, vocabulary: 4096, tokens: 3 },
  requests: 30,
  gapNs: 40_000,
  seed,
};
const STUDY = { launches: 10_000, queriesPerSecond: 250, seed };

const card = profileNamed('v100');

const lines = LEVELS.map(([level, policy]) =>
  [...LENGTHS_US, ONE_SECOND_US].map((us) =>
    latencyPoint(card, level, policy, us, us === ONE_SECOND_US ? SAMPLES / 10 : SAMPLES, seed),
  ),
);
folder.print('| kernel, us | level, policy | p50, us | p99, us |\n| --- | --- | --- | --- |\n');
for (const line of lines) {
  for (const { kernelUs, level, policy, p50Us, p99Us } of line) {
    folder.print(`| ${kernelUs} | ${level}, \`${policy}\` | ${p50Us.toFixed(1)} | ${p99Us.toFixed(1)} |\n`);
  }
}

const studies = (['largest', 'any'] as const).map((idempotentAre) => {
  const job = languageModelJob(card, { ...JOB, idempotentAre });
  const results = SCHEDULING_POLICY_NAMES.map((policy) =>
    sharedStudy(card, policy, job, criticalQuery(card), STUDY),
  );
  const fifo = results.find(({ policy }) => policy === 'fifo');
  const told = idempotentAre === 'largest' ? 'those that hold most on the SMs' : 'any';
  folder.print(
    `\nIdempotent launches are ${told}:\n\n` +
      '| policy | added latency p50, us | p99, us | launches/s of fifo | preemptions (kill, save, drain) | mean latency of one, us | by kind and context, us |\n' +
      '| --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (const each of results) {
    const { kills, saves, drains } = each.totals;
    const share = each.launchesPerSecond / (fifo?.launchesPerSecond ?? NaN);
    folder.print(
      `| \`${each.policy}\` | ${each.p50AddedUs.toFixed(1)} | ${each.p99AddedUs.toFixed(0)} | ${share.toFixed(3)} ` +
        `| ${each.preemptions} (${kills}, ${saves}, ${drains}) | ${told1(each.meanPreemptionUs)} | ${told1(each.expectedPreemptionUs)} |\n`,
    );
    if (each.unfinished > 0) throw new Error(`${each.unfinished} launches or queries never ended`);
  }
  return { idempotentAre, results };
});

const each = (['largest', 'any'] as const).map((idempotentAre) => {
  const job = languageModelJob(card, { ...JOB, idempotentAre });
  folder.print(
    `\nEach launch preempted once, idempotent are ${idempotentAre}:\n\n` +
      '| known of launches | the others | mean latency, us | sum of p_i * cost_i, us | less than with nothing known |\n' +
      '| --- | --- | --- | --- | --- |\n',
  );
  const results = SCHEMES.map((scheme) => preemptEachLaunch(card, scheme, job, STUDY));
  for (const result of results) {
    const { knowledge, otherwise, meanUs, expectedUs } = result;
    const nothing = results.find((one) => one.otherwise === otherwise && one.knowledge === 'nothing');
    const less = 1 - meanUs / (nothing?.meanUs ?? NaN);
    folder.print(
      `| ${knowledge} | ${otherwise} | ${meanUs.toFixed(2)} | ${expectedUs.toFixed(2)} ` +
        `| ${result === nothing ? '' : `${(less * 100).toFixed(1)} %`} |\n`,
    );
  }
  return { idempotentAre, results };
});
folder.print(
  '\nKernels that run:\n\n' +
    '| policy | requests | launches | critical launches | preemptions (kill, save, drain) | requests preempted | of those identical | of the others |\n' +
    '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
const functional = SCHEDULING_POLICY_NAMES.map((policy) => {
  const result = functionalStudy(card, policy, FUNCTIONAL);
  const { requests, launches, urgent, preempted, identical, undisturbedIdentical } = result;
  const { kills, saves, drains } = result.totals;
  folder.print(
    `| \`${policy}\` | ${requests} | ${launches} | ${urgent} | ${kills + saves + drains} (${kills}, ${saves}, ${drains}) ` +
      `| ${preempted} | ${identical} | ${undisturbedIdentical} of ${requests - preempted} |\n`,
  );
  return result;
});
folder.writeJson('preemption.json', {
  seed,
  samples: SAMPLES,
  job: JOB,
  study: STUDY,
  lines,
  studies,
  each,
  functional: { settings: FUNCTIONAL, results: functional },
});
folder.write('preemption.svg', latencyFigure(lines, ONE_SECOND_US, seed));

function told1(us: number): string {
  return Number.isNaN(us) ? '' : us.toFixed(1);
}
