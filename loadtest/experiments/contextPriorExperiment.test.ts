import { expect, it } from 'vitest';
import { POLICIES, priorRegret } from './contextPriorExperiment.js';

const size = { seed: 20170327, before: 30, users: 30 };

it.each(POLICIES.filter(([policy]) => policy !== 'exp4'))(
  'makes the first queries of new contexts better with %s, and later ones no worse',
  (policy, parameters) => {
    const without = priorRegret(policy, { ...parameters, prior: 0 }, size);
    const withPrior = priorRegret(policy, parameters, size);
    expect(withPrior.first).toBeLessThan(without.first - 0.01);
    expect(withPrior.later).toBeLessThan(without.later + 0.01);
  },
);
