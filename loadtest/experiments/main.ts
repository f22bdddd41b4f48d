/** Runs one experiment by its name. Usage: npm run experiment NAME [-- OPTIONS] */
import { runScenario, SCENARIOS } from '../scenarios/index.js';

interface Experiment {
  readonly run: () => Promise<unknown>;
  /** How long that takes on two cores that do nothing else; undefined: it was not measured. */
  readonly usually?: string;
}

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  agreement: {
    run: () => import('./agreement.js'),
    usually: 'about an hour and a quarter (--seconds, --only, --traces and --loads make it shorter)',
  },
  aimd: { run: () => import('./aimd.js') },
  batchLatency: { run: () => import('./batchLatency.js'), usually: 'about 1.5 minutes' },
  concurrency: { run: () => import('./concurrency.js') },
  delayedBatching: { run: () => import('./delayedBatching.js'), usually: 'about 10 seconds' },
  disb: { run: () => import('./disb.js') },
  ensembleConfidence: { run: () => import('./ensembleConfidence.js') },
  errorsToday: { run: () => import('./errorsToday.js') },
  faults: { run: () => import('./faults.js') },
  gpuTime: { run: () => import('./gpuTime.js') },
  gpuTimeAblation: { run: () => import('./gpuTimeAblation.js') },
  'idempotency/audit': { run: () => import('./idempotency/audit.js') },
  'idempotency/cover': { run: () => import('./idempotency/cover.js') },
  'idempotency/fuzz': { run: () => import('./idempotency/fuzz.js') },
  'idempotency/heldOut': { run: () => import('./idempotency/heldOut.js') },
  'idempotency/mutants': { run: () => import('./idempotency/mutants.js') },
  'idempotency/overhead': { run: () => import('./idempotency/overhead.js') },
  'idempotency/table': { run: () => import('./idempotency/table.js') },
  jobKills: { run: () => import('./jobKills.js') },
  modelFailure: { run: () => import('./modelFailure.js'), usually: 'about 2 minutes' },
  predictPath: { run: () => import('./predictPath.js') },
  preemption: { run: () => import('./preemption.js') },
  regret: { run: () => import('./regret.js') },
  replicaScaling: { run: () => import('./replicaScaling.js'), usually: 'about 20 seconds' },
  stragglers: { run: () => import('./stragglers.js'), usually: 'about a minute' },
  ...Object.fromEntries(
    SCENARIOS.map((scenario) => [
      `scenarios/${scenario.name}`,
      { run: () => runScenario(scenario), usually: scenario.usually },
    ]),
  ),
};

// Each experiment reads its own arguments, as if it had been started itself.
const [name = ''] = process.argv.splice(2, 1);
const experiment = Object.hasOwn(EXPERIMENTS, name) ? EXPERIMENTS[name] : undefined;
if (experiment === undefined) {
  process.stderr.write(
    `${name === '' ? 'name an experiment' : `there is no experiment '${name}'`}; there are: ${Object.keys(EXPERIMENTS).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  const { run, usually } = experiment;
  if (usually !== undefined) process.stderr.write(`${name}: usually ${usually}\n`);
  await run();
}
