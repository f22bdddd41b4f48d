/**
 * Holds the validator to itself on every launch of the corpus: what intervals accept, enumeration of all threads accepts; what is
 * missed as RO, enumeration accepts; a verdict is the same whatever memory holds. And shows the verdicts of applications that
 * launch one kernel both ways. Writes audit.md and audit.json and prints the table; ends with status 1 when something fails.
 * Usage: npm run experiment idempotency/audit -- [--folder FOLDER] [--seed N] [--rerolls R] [--part I/N]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import { analyzeKernel, type ValidatedLaunch, type Validator } from '../../../simulator/idempotency/index.js';
import {
  VALIDATOR_MODES,
  validatorInMode,
  type ValidatorMode,
} from '../../../simulator/laboratory/validatorModes/index.js';
import {
  APPLICATIONS,
  bodyModule,
  corpusInstance,
  judgeInstance,
  labelledBodies,
  labelOf,
  OracleBench,
  OracleRandom,
  runApplication,
  type PlacedInstance,
} from '../../../simulator/laboratory/verdicts/index.js';
import { validatedLaunch } from './validation.js';

const {
  values: options,
  seed,
  folder,
} = experimentArguments('idempotency/audit', EXPERIMENTS['idempotency/audit']);
const [part = 0, parts = 1] = options.part.split('/').map(Number);
const rerolls = Number(options.rerolls);
const bench = new OracleBench();
const random = new OracleRandom(seed);
const noise = Uint8Array.from({ length: 65_521 }, () => random.below(256));

const accepted: Record<ValidatorMode, number> = { strawman: 0, ranges: 0, compacted: 0 };
const found = { bodies: 0, launches: 0, missedAsRo: 0, enumerated: 0, rerolls: 0 };
const failures: string[] = [];

/** A launch as a validator gets it; whatever else is asked of it, memory first of all, throws. */
function withoutMemory(launch: ValidatedLaunch): ValidatedLaunch {
  const known = new Set(['params', 'shape', 'symbols', 'allocations']);
  return new Proxy(launch, {
    get(target, name, receiver): unknown {
      if (typeof name !== 'string' || !known.has(name))
        throw new Error(`the validator reads ${String(name)}`);
      return Reflect.get(target, name, receiver);
    },
  });
}

/** Other contents of all memory: noise that is drawn once, from another place of it on each time. */
function fillWithNoise({ arena }: PlacedInstance, roll: number): void {
  const image = new Uint8Array(arena.bytes);
  for (let at = 0; at < image.length; at++) image[at] = noise[(at + 31 * roll) % noise.length] ?? 0;
  arena.write(image);
}

function audit(
  validators: Readonly<Record<ValidatorMode, Validator>>,
  at: string,
  placed: PlacedInstance,
  isIdempotent: boolean,
): void {
  const launch = withoutMemory(validatedLaunch(placed));
  found.launches++;
  const verdicts = VALIDATOR_MODES.map((mode) => validators[mode].judge(launch));
  VALIDATOR_MODES.forEach((mode, index) => {
    if (verdicts[index] === true) accepted[mode]++;
    if (verdicts[index] === true && verdicts[0] !== true)
      failures.push(`${at}: ${mode} accepts what enumeration refuses`);
  });
  const { idempotent, cause } = validators.compacted.explain(launch);
  if (idempotent !== validators.compacted.judge(launch))
    failures.push(`${at}: the explanation differs from the verdict`);
  if (idempotent || !isIdempotent || cause !== 'RO') return;
  found.missedAsRo++;
  if (verdicts[0] === true) found.enumerated++;
  else failures.push(`${at}: missed as RO, and enumeration refuses it too`);
}

for (const [position, { body, truth }] of labelledBodies().entries()) {
  if (position % parts !== part) continue;
  const summary = analyzeKernel(bodyModule(body), body.manifest.entry);
  const validators = {
    strawman: validatorInMode(summary, { mode: 'strawman' }),
    ranges: validatorInMode(summary, { mode: 'ranges' }),
    compacted: validatorInMode(summary),
  };
  found.bodies++;
  for (let index = 0; index < truth.labels.length; index++) {
    if (truth.labels[index] === 'x') continue;
    bench.with(corpusInstance(body, index), (placed) => {
      const at = `${body.id}, launch ${index}`;
      audit(validators, at, placed, truth.labels[index] === 'i');
      if (index > 0) return;
      const launch = withoutMemory(validatedLaunch(placed));
      const verdict = validators.compacted.judge(launch);
      for (let roll = 0; roll < rerolls; roll++) {
        fillWithNoise(placed, roll);
        found.rerolls++;
        if (validators.compacted.judge(launch) !== verdict)
          failures.push(`${at}: the verdict depends on memory`);
      }
    });
  }
}

const applications = APPLICATIONS.map((application) => {
  const counts = { truth: [0, 0], verdict: [0, 0] };
  let validator: Validator | undefined;
  runApplication(bench, application, (instance) => {
    if (instance.entry !== application.watched) return;
    validator ??= validatorInMode(analyzeKernel(instance.ir, instance.entry));
    const idempotent = labelOf(judgeInstance(bench, instance, { kills: 32 })) === 'i';
    const verdict =
      bench.with(instance, (placed) => validator?.judge(withoutMemory(validatedLaunch(placed)))) === true;
    counts.truth[idempotent ? 0 : 1]++;
    counts.verdict[verdict ? 0 : 1]++;
    if (verdict && !idempotent) failures.push(`${application.name}, step ${instance.step}: a false positive`);
  });
  return { name: application.name, kernel: application.watched, ...counts };
});

const text = `## Modes of the validator on ${found.launches} launches of ${found.bodies} bodies

| | |
| --- | --- |
| accepted by enumerating threads (strawman) | ${accepted.strawman} |
| accepted by intervals of each iteration (ranges) | ${accepted.ranges} |
| accepted by intervals of whole loops (compacted) | ${accepted.compacted} |
| accepted by intervals and refused by enumeration | ${failures.filter((each) => each.includes('accepts what')).length} |
| missed as RO | ${found.missedAsRo} |
| of these accepted by enumeration | ${found.enumerated} |
| verdicts again with other contents of memory | ${found.rerolls} |
| of these different | ${failures.filter((each) => each.includes('depends on memory')).length} |

## Applications that launch one kernel both ways

| application | kernel | launches idempotent / not | verdicts idempotent / not |
| --- | --- | --- | --- |
${applications.map(({ name, kernel, truth, verdict }) => `| ${name} | ${kernel} | ${truth.join(' / ')} | ${verdict.join(' / ')} |`).join('\n')}
`;
process.stdout.write(text);
for (const failure of failures.slice(0, 100)) process.stdout.write(`${failure}\n`);
if (parts === 1) {
  folder.write('audit.md', text);
  folder.writeJson('audit.json', { ...found, accepted, applications, failures });
}
if (failures.length > 0) process.exitCode = 1;
