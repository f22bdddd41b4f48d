/** Runs one experiment by its name. Usage: npm run experiment NAME [-- OPTIONS] */
const EXPERIMENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  aimd: () => import('./aimd.js'),
  batchLatency: () => import('./batchLatency.js'),
  concurrency: () => import('./concurrency.js'),
  delayedBatching: () => import('./delayedBatching.js'),
  disb: () => import('./disb.js'),
  ensembleConfidence: () => import('./ensembleConfidence.js'),
  errorsToday: () => import('./errorsToday.js'),
  faults: () => import('./faults.js'),
  gpuTime: () => import('./gpuTime.js'),
  gpuTimeAblation: () => import('./gpuTimeAblation.js'),
  'idempotency/audit': () => import('./idempotency/audit.js'),
  'idempotency/cover': () => import('./idempotency/cover.js'),
  'idempotency/fuzz': () => import('./idempotency/fuzz.js'),
  'idempotency/heldOut': () => import('./idempotency/heldOut.js'),
  'idempotency/mutants': () => import('./idempotency/mutants.js'),
  'idempotency/overhead': () => import('./idempotency/overhead.js'),
  'idempotency/table': () => import('./idempotency/table.js'),
  jobKills: () => import('./jobKills.js'),
  modelFailure: () => import('./modelFailure.js'),
  predictPath: () => import('./predictPath.js'),
  preemption: () => import('./preemption.js'),
  regret: () => import('./regret.js'),
  replicaScaling: () => import('./replicaScaling.js'),
  stragglers: () => import('./stragglers.js'),
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
  await experiment();
}
