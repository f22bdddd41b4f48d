/**
 * What a prior is worth to new contexts: regret of their first 20 queries and of later ones, with the prior of each policy's
 * defaults and without. No clock. Writes contextPrior.json.
 * Usage: npm run experiment contextPrior [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { comparedPriors, POLICIES } from './contextPriorExperiment.js';

const { seed, folder } = experimentArguments('contextPrior', EXPERIMENTS.contextPrior);
const size = { seed, seeds: 5, before: 30, users: 60 };
const rows = POLICIES.map(([name, parameters]) => comparedPriors(name, parameters, size));
folder.writeJson('contextPrior.json', { ...size, rows });
const title = [
  'policy',
  'first 20, without',
  'with',
  '± of the difference',
  '501 to 1,000, without',
  'with',
  '±',
  'odd users: first, without',
  'with',
  'later, without',
  'with',
];
folder.print(`| ${title.join(' | ')} |\n| ${title.map(() => '---').join(' | ')} |\n`);
for (const { policy, without, withPrior, firstReach, laterReach } of rows) {
  const numbers = [
    without.first,
    withPrior.first,
    firstReach,
    without.later,
    withPrior.later,
    laterReach,
    without.oddFirst,
    withPrior.oddFirst,
    without.oddLater,
    withPrior.oddLater,
  ];
  folder.print(`| ${[policy, ...numbers.map((value) => value.toFixed(4))].join(' | ')} |\n`);
}
