/**
 * Clipper's figure 7: the five digit models on the held-out digits, alone, as an ensemble, and by how many agree. No
 * clock. Writes ensembleConfidence.json and ensembleConfidence.svg.
 * Usage: npm run experiment ensembleConfidence [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { digitModels, loadDigits, predictions } from '../../containers/models/index.js';
import { renderBars } from '../report/index.js';
import { runEnsemble } from './ensembleConfidenceExperiment.js';
import { percent } from '../../simulator/text/index.js';

const { seed, folder } = experimentArguments('ensembleConfidence', EXPERIMENTS.ensembleConfidence);
const split = loadDigits();
const { heldOut } = split;
const trained = digitModels(split);
const models = trained.map((model) => ({ name: model.name, labels: predictions(model, heldOut) }));
const ensembles = ['majority', 'weighted', 'exp4'].map((policy) =>
  runEnsemble(policy, models, heldOut.labels, seed),
);
const summary = {
  seed,
  digits: heldOut.count,
  singles: trained.map(({ name, error }) => ({ name, error })),
  ensembles,
};

folder.writeJson('ensembleConfidence.json', summary);
const [, , exp4] = ensembles;
folder.write(
  'ensembleConfidence.svg',
  renderBars({
    title: 'Where the models agree they are right',
    subtitle: `${heldOut.count} held-out digits; exp4's answers by how many models agree, bars as wide as their share of digits`,
    yLabel: 'error',
    groups: [
      {
        name: 'single models',
        bars: summary.singles.map(({ name, error }) => ({
          name: name.replace('digits-', '').split('-'),
          value: error,
          text: percent(error, 2),
          color: 6,
        })),
      },
      {
        name: 'ensembles',
        bars: ensembles.map(({ policy, error }) => ({
          name: [policy],
          value: error,
          text: percent(error, 2),
          color: 0,
        })),
      },
      ...exp4.splits.map(({ agree, confident, unsure }) => ({
        name: agree === models.length ? `${agree} agree` : `${agree} or more agree`,
        bars: [
          { group: confident, what: 'confident', color: 2 },
          { group: unsure, what: 'unsure', color: 1 },
        ].map(({ group, what, color }) => ({
          name: [what, percent(group.share, 2)],
          value: group.error,
          text: percent(group.error, 2),
          color,
          width: group.share,
        })),
      })),
    ],
  }),
);
for (const { name, error } of summary.singles) folder.print(`| ${name} | ${percent(error, 2)} |\n`);
for (const { policy, error, splits } of ensembles) {
  folder.print(`| ${policy} | ${percent(error, 2)} |\n`);
  for (const { agree, confident, unsure } of splits) {
    folder.print(
      `|   ${agree} agree | ${percent(confident.share, 2)} of digits, error ${percent(confident.error, 2)}; the rest ${percent(unsure.error, 2)} |\n`,
    );
  }
}
