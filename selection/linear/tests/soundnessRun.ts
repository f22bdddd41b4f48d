import { isSound, soundnessOf } from './soundness.js';

/*
 * node dist/selection/linear/tests/soundnessRun.js [SEED [UPDATES]]: what is left of linear policies' matrices after ten million
 * updates. Exits with 1 when one is not symmetric positive definite, or not the sum that it stands for.
 */
const [seed = 1, updates = 10_000_000] = process.argv.slice(2).map(Number);
let isGood = true;
for (const forgetting of [1, 0.9998]) {
  for (const one of soundnessOf({ seed, updates, features: 8, forgetting, ridge: 1 })) {
    isGood &&= isSound(one);
    process.stdout.write(
      `seed ${seed}, ${updates} updates, forgetting ${forgetting}, arm ${one.arm}: judged ${one.judged.toFixed(1)}, deviation ${one.deviation.toExponential(1)}, least pivot ${one.leastPivot.toExponential(1)} ridges, worst weight ${one.worstError.toFixed(2)} standard errors off\n`,
    );
  }
}
process.exitCode = isGood ? 0 : 1;
