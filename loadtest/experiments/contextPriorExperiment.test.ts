import { expect, it } from 'vitest';
import { POLICIES, priorRegret } from './contextPriorExperiment.js';

const size = { seed: 20170327, before: 60, users: 120 };

// Those that ask all models take long; the experiment has them.
it.each(POLICIES.filter(([policy]) => !['exp4', 'weighted'].includes(policy)))(
  'makes the first queries of new contexts better with %s, and later ones no worse',
  (policy, parameters) => {
    const without = priorRegret(policy, { ...parameters, prior: 0 }, size);
    const withPrior = priorRegret(policy, parameters, size);
    expect(withPrior.first).toBeLessThan(without.first - 0.01);
    expect(withPrior.later).toBeLessThan(without.later + 0.01);
  },
);
