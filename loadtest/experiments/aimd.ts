/**
 * Adaptive batching against no batching at a 20 ms objective, in virtual time: batch size, latency and throughput over
 * time, for a synthetic model and for a kernel model on a simulated H200. Writes a JSON and an SVG file of each.
 * Usage: node dist/loadtest/experiments/aimd.js [synthetic|digits|all] [folder]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStrategy, type AimdSettings, type ExperimentModel } from './aimdExperiment.js';
import { aimdFigure } from './aimdFigure.js';
import { DIGITS_SETTINGS, digitsMlpModel } from './digitsModel.js';
import { SYNTHETIC_PROFILE, SYNTHETIC_SETTINGS, syntheticModel } from './syntheticModel.js';

const which = process.argv[2] ?? 'all';
const folder = process.argv[3] ?? fileURLToPath(new URL('../../../docs/experiments/aimd', import.meta.url));
if (!['synthetic', 'digits', 'all'].includes(which)) {
  throw new RangeError(`the experiment must be synthetic, digits or all, not '${which}'`);
}
mkdirSync(folder, { recursive: true });

if (which !== 'digits') {
  const { fixedMs, itemMs } = SYNTHETIC_PROFILE;
  compare(
    'synthetic',
    'AIMD finds the batch size that a 20 ms objective allows',
    `Batch of n: ${fixedMs} ms + n × ${itemMs} ms`,
    SYNTHETIC_SETTINGS,
    syntheticModel(SYNTHETIC_PROFILE, SYNTHETIC_SETTINGS.seed),
    false,
  );
}
if (which !== 'synthetic') {
  compare(
    'digitsMlp',
    'A kernel model under AIMD, objective 20 ms',
    'digits-mlp on one simulated H200',
    DIGITS_SETTINGS,
    digitsMlpModel(DIGITS_SETTINGS.seed),
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
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(record, fiveDigits, 1)}\n`);
  writeFileSync(
    join(folder, `${name}.svg`),
    aimdFigure(title, subtitle, { logarithmic, settings, adaptive, unbatched }),
  );
  process.stdout.write(`${JSON.stringify(summary, fiveDigits, 2)}\n`);
}

/** Enough to draw from, and the file stays readable. */
function fiveDigits(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
