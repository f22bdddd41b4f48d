/**
 * Looks for false positives: every launch of the corpus that the validator calls idempotent is killed at many points under
 * three schedules and run again, and every access of every launch is held to what was predicted of its instruction. Prints what it
 * tried and whatever contradicts the validator; ends with status 1 when something does.
 * Usage: npm run experiment idempotency/fuzz -- [--kills K] [--part I/N] [--launches L] [--allocation-bound] [--seed S] [--solver z3]
 */
import { experimentArguments } from '../experimentArguments.js';
import { EXPERIMENTS } from '../experimentList.js';
import { evaluate, labelledBodies } from '../../../simulator/laboratory/verdicts/index.js';
import { solverFacts } from './solverFacts.js';
import { systemValidation } from './validation.js';

const {
  values: options,
  seed,
  folder,
} = experimentArguments('idempotency/fuzz', EXPERIMENTS['idempotency/fuzz']);
const [part = 0, parts = 1] = options.part.split('/').map(Number);
const bodies = labelledBodies().filter((_, index) => index % parts === part);
const { families, contradictions, ...totals } = evaluate(
  systemValidation(
    { allocationBound: options['allocation-bound'] },
    await solverFacts(options.solver, bodies),
  ),
  bodies,
  { kills: Number(options.kills), most: Number(options.launches), seed },
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
folder.print(`${JSON.stringify(found)}\n`);
for (const contradiction of contradictions.slice(0, 100)) folder.print(`${JSON.stringify(contradiction)}\n`);
if (contradictions.length > 0) process.exitCode = 1;
