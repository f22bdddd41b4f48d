/**
 * Adaptive batching against no batching at a 20 ms objective, in virtual time: batch size, latency and throughput over
 * time, for a synthetic model and for a kernel model on a simulated H200. Writes a JSON and an SVG file of each.
 * Usage: npm run experiment aimd [-- --only synthetic|digits] [--seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import { runStrategy, type AimdSettings, type ExperimentModel } from './aimdExperiment.js';
import { aimdFigure } from './aimdFigure.js';
import { compactJson } from '../report/index.js';
import { DIGITS_SETTINGS, digitsMlpModel } from './digitsModel.js';
import { SYNTHETIC_PROFILE, SYNTHETIC_SETTINGS, syntheticModel } from './syntheticModel.js';

const { values, seed, folder } = experimentArguments('aimd', EXPERIMENTS.aimd);
const which = values.only;
if (!['synthetic', 'digits', 'all'].includes(which)) {
  throw new ArgumentError(`--only must be synthetic, digits or all, not '${which}'`);
}

if (which !== 'digits') {
  const { fixedMs, itemMs } = SYNTHETIC_PROFILE;
  compare(
    'synthetic',
    'AIMD finds the batch size that a 20 ms objective allows',
    `Batch of n: ${fixedMs} ms + n × ${itemMs} ms`,
    { ...SYNTHETIC_SETTINGS, seed },
    syntheticModel(SYNTHETIC_PROFILE, seed),
    false,
  );
}
if (which !== 'synthetic') {
  compare(
    'digitsMlp',
    'A kernel model under AIMD, objective 20 ms',
    'digits-mlp on one simulated H200',
    { ...DIGITS_SETTINGS, seed },
    digitsMlpModel(seed),
    true,
  );
}

function compare(
  name: string,
  title: string,
  subtitle: string,
  settings: AimdSettings,
  model: ExperimentModel,
  logarithmic: boolean,
): void {
  const adaptive = runStrategy(settings, model, { strategy: 'aimd' });
  const unbatched = runStrategy(settings, model, { strategy: 'fixed', maxBatchSize: 1 });
  const summary = {
    experiment: name,
    settings,
    /** In-time answers over all that no batching computes, late ones too, by stage. */
    gain: adaptive.stages.map(
      (stage, at) => stage.answersInTimePerSecond / unbatched.stages[at].modelItemsPerSecond,
    ),
    adaptive: adaptive.stages,
    unbatched: unbatched.stages,
    longestLatencyMs: Math.max(adaptive.longestLatencyMs, unbatched.longestLatencyMs),
  };
  const record = { ...summary, windows: { adaptive, unbatched } };
  folder.writeJson(`${name}.json`, record);
  folder.write(`${name}.svg`, aimdFigure(title, subtitle, { logarithmic, settings, adaptive, unbatched }));
  folder.print(compactJson(summary));
}
