/**
 * What feedback costs each policy in process: observations a second with five models, one core, after a warm-up.
 * Usage: node dist/loadtest/bench/selectionBench.js [--json]
 */
import { KeyedDraw, POLICY_NAMES, policyNamed, type ArmPrediction } from '../../selection/index.js';

const ARMS = ['one', 'two', 'three', 'four', 'five'];
const RIGHT = { label: '7' };
const ROUNDS = 5;
const OBSERVATIONS = 400_000;

interface PolicyCost {
  readonly policy: string;
  readonly observesPerSecond: number;
  readonly selectsPerSecond: number;
}

function cost(name: string): PolicyCost {
  const policy = policyNamed(name);
  const draw = new KeyedDraw(1);
  // Right with 0.5 to 0.9; prepared, so that only the policy is on the clock.
  const predictions: ArmPrediction[][] = Array.from({ length: 1024 }, (_, query) =>
    ARMS.map((arm, at) => ({ arm, output: draw.of(`${query} ${arm}`)() < 0.5 + at / 10 ? '7' : '1' })),
  );
  let state = policy.init(ARMS, null);
  const selection = policy.select(state, draw.of('first'));
  let fastestObserve = Infinity;
  let fastestSelect = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    let beganNs = process.hrtime.bigint();
    for (let at = 0; at < OBSERVATIONS; at++) {
      state = policy.observe(state, selection, predictions[at & 1023], RIGHT);
    }
    fastestObserve = Math.min(fastestObserve, Number(process.hrtime.bigint() - beganNs));
    const next = draw.of(`${round}`);
    beganNs = process.hrtime.bigint();
    for (let at = 0; at < OBSERVATIONS; at++) policy.select(state, next);
    fastestSelect = Math.min(fastestSelect, Number(process.hrtime.bigint() - beganNs));
  }
  return {
    policy: name,
    observesPerSecond: Math.round((OBSERVATIONS * 1e9) / fastestObserve),
    selectsPerSecond: Math.round((OBSERVATIONS * 1e9) / fastestSelect),
  };
}

const costs = POLICY_NAMES.map(cost);
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ node: process.version, arms: ARMS.length, costs })}\n`);
} else {
  process.stdout.write(`policy           observe/s    select/s\n`);
  for (const { policy, observesPerSecond, selectsPerSecond } of costs) {
    process.stdout.write(
      `${policy.padEnd(14)}${`${observesPerSecond}`.padStart(12)}${`${selectsPerSecond}`.padStart(12)}\n`,
    );
  }
}
