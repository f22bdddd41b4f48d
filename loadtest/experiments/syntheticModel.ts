import { InProcessChannel, SyntheticContainer } from '../../containers/runtime/testing/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';
import type { AimdSettings, ExperimentModel } from './aimdExperiment.js';

/** Service time of a batch of n: fixedMs + n * itemMs, one batch after the other, spread by `jitter`. */
export interface SyntheticProfile {
  readonly fixedMs: number;
  readonly itemMs: number;
  readonly jitter: number;
}

/** A high fixed cost, like the paper's kernel machines: alone an input takes 2.05 ms, which makes 488 a second. */
export const SYNTHETIC_PROFILE: SyntheticProfile = { fixedMs: 2, itemMs: 0.05, jitter: 0.05 };

/** Beyond what the model can do without batching, near what batches within the objective can do, far beyond that. */
export const SYNTHETIC_SETTINGS: AimdSettings = {
  seed: 20170327,
  durationSeconds: 9,
  windowSeconds: 0.05,
  objectiveMs: 20,
  stages: [
    { fromSeconds: 0, queriesPerSecond: 4000 },
    { fromSeconds: 3, queriesPerSecond: 11_000 },
    { fromSeconds: 6, queriesPerSecond: 20_000 },
  ],
  adaptationSeconds: 0.5,
};

export function syntheticModel(profile: SyntheticProfile, seed: number): ExperimentModel {
  const identity = { model: 'synthetic', version: '1', replica: '0' };
  return {
    record: {
      name: identity.model,
      version: identity.version,
      inputType: 'doubles',
      labels: [],
      container: { kind: 'external', containerName: 'synthetic', modelDataPath: '' },
    },
    replica(clock: VirtualClock) {
      const channel = new InProcessChannel(clock, 'channel');
      const service = {
        fixedNs: profile.fixedMs * 1e6,
        itemNs: profile.itemMs * 1e6,
        jitter: { share: profile.jitter, seed },
        output: '7',
        inputType: 'doubles',
        maxBatchSize: 4096,
      } as const;
      channel.connect(new SyntheticContainer(clock, 'container', identity, service, channel));
      return channel;
    },
    input: (number) => new Uint8Array(Float64Array.of(number, 1, 2, 3, 4, 5, 6, 7).buffer),
  };
}
