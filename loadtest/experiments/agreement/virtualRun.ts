import { writeFileSync } from 'node:fs';
import type { HostTimes } from '../../hostTimes/index.js';
import { hostTimesOf, planReplay, replay, type ReplayRequest } from '../../replay/index.js';
import type { RunResult } from '../../result/index.js';
import type { AskedRun } from './liveRun.js';
import { APPLICATION, OBJECTIVE_MS, type Subject } from './subjects.js';

const CACHE_BYTES = 32 * 1024 * 1024;
const NO_FEEDBACK = { share: 0, delayMs: 0 };

/** Of a fresh server's digits models, which are all that are compared. @param option as `--host-times` takes it */
export async function hostTimesFrom(
  option: string,
  seed: number,
  onProgress: (text: string) => void,
): Promise<HostTimes> {
  const request = { seed, scale: 1, feedback: NO_FEEDBACK, cacheBytes: CACHE_BYTES };
  const settings = await planReplay({ ...request, trace: 'poisson:1', application: 'digits' });
  settings.trace.close();
  return hostTimesOf(option, settings, onProgress);
}

/** The same queries in virtual time. */
export async function virtualRun({
  subject,
  trace,
  seconds,
  seed,
  answersFile,
  hostTimes,
}: AskedRun & { readonly hostTimes: HostTimes }): Promise<RunResult> {
  const config = `${answersFile}.config.json`;
  writeFileSync(config, JSON.stringify(configOf(subject)));
  const request: ReplayRequest = {
    trace: trace.spec,
    scale: trace.scale,
    seed,
    durationSeconds: seconds,
    config,
    application: APPLICATION,
    feedback: NO_FEEDBACK,
    cacheBytes: CACHE_BYTES,
  };
  const lines: string[] = [];
  const settings = await planReplay(request);
  const { result } = await replay({ ...settings, hostTimes, onAnswer: (line) => lines.push(line) });
  writeFileSync(answersFile, lines.join(''));
  return result;
}

function configOf({ model, inputType, timed }: Subject): object {
  const common = { model_name: model, model_version: '1', input_type: inputType };
  return {
    applications: [
      {
        name: APPLICATION,
        input_type: inputType,
        default_output: '-1',
        latency_slo_micros: OBJECTIVE_MS * 1000,
        linked_models: [model],
      },
    ],
    models: [
      timed === undefined
        ? {
            ...common,
            container_name: 'windjammer/kernel-model',
            model_data_path: `containers/models/${model}`,
          }
        : {
            ...common,
            container_name: 'windjammer/synthetic',
            synthetic: { fixed_ms: timed.fixedMs, item_ms: timed.itemMs, output: '0' },
          },
    ],
  };
}
