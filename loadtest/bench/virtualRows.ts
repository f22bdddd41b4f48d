import { DELAYED_MODELS, QUERIES_PER_SECOND, runDelays } from '../experiments/delayedBatchingExperiment.js';
import { SCALING_CASES, runScalingCase } from '../experiments/replicaScalingExperiment.js';
import type { Measured, Row } from './rows.js';

/** In virtual time: the same figures each time, whatever the machine is doing. */
export const VIRTUAL_ROWS: readonly Row[] = [
  { name: 'delayed', run: () => Promise.resolve([delayed()]) },
  { name: 'replicas', run: () => Promise.resolve([replicas()]) },
];

function delayed(): Measured {
  const [{ name, profile }] = DELAYED_MODELS;
  const [, two] = runDelays(profile, [0, 2], QUERIES_PER_SECOND, 20);
  return {
    title: 'delayed batching, virtual time (figure 5)',
    sides: [],
    checks: [
      {
        what: `delayed batching, ${name}, 2 ms: container's throughput over no delay`,
        figure: two.gain,
        bound: 'atLeast',
        floor: 2.5,
        unit: 'x',
        errors: 0,
      },
    ],
  };
}

function replicas(): Measured {
  const [, tenGigabit, oneGigabit] = SCALING_CASES;
  const { gain } = runScalingCase(tenGigabit, 1, 4);
  const [, , two] = runScalingCase(oneGigabit, 1, 4).results;
  return {
    title: 'one to four replicas, virtual time (figure 6)',
    sides: [],
    checks: [
      {
        what: 'four replicas over 10 Gb/s: throughput over one',
        figure: gain,
        bound: 'atLeast',
        floor: 3.9,
        unit: 'x',
        errors: 0,
      },
      {
        what: "second remote replica over 1 Gb/s: of the card's rate",
        figure: two.cardShare,
        bound: 'atLeast',
        floor: 0.9,
        unit: 'x',
        errors: 0,
      },
    ],
  };
}
