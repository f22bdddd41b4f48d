/**
 * Looks for false positives: every launch of the corpus that the validator calls idempotent is killed at many points under
 * three schedules and run again, and every access of every launch is held to what was predicted of its instruction. Prints what it
 * tried and whatever contradicts the validator; ends with status 1 when something does.
 * Usage: npm run experiment idempotency/fuzz -- [--kills K] [--part I/N] [--launches L] [--allocation-bound] [--seed S] [--solver z3]
 */
import { parseArgs } from 'node:util';
import { evaluate, labelledBodies } from '../../../simulator/laboratory/verdicts/index.js';
import { solverFacts } from './solverFacts.js';
import { systemValidation } from './validation.js';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '32' },
    launches: { type: 'string', default: '1000' },
    part: { type: 'string', default: '0/1' },
    seed: { type: 'string', default: '1' },
    solver: { type: 'string' },
    'allocation-bound': { type: 'boolean', default: false },
  },
});
const [part = 0, parts = 1] = options.part.split('/').map(Number);
const bodies = labelledBodies().filter((_, index) => index % parts === part);
const { families, contradictions, ...totals } = evaluate(
  systemValidation(
    { allocationBound: options['allocation-bound'] },
    await solverFacts(options.solver, bodies),
  ),
  bodies,
  { kills: Number(options.kills), most: Number(options.launches), seed: Number(options.seed) },
);
const accepted = families.reduce((sum, { verdict }) => sum + verdict.idempotent, 0);
const { user, system } = process.cpuUsage();
const cpuSeconds = (user + system) / 1e6;
const found = {
  bodies: bodies.length,
  ...totals,
  accepted,
  contradictions: contradictions.length,
  cpuSeconds,
};
process.stdout.write(`${JSON.stringify(found)}\n`);
for (const contradiction of contradictions.slice(0, 100))
  process.stdout.write(`${JSON.stringify(contradiction)}\n`);
if (contradictions.length > 0) process.exitCode = 1;
