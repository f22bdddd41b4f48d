import { join } from 'node:path';
import { digitAt, heldOutDigits } from '../../containers/models/index.js';
import { KeyedDraw } from '../../selection/index.js';
import { commandFile } from '../../services/cli/index.js';
import { WebSocketClient, type Feedback } from '../../services/client/index.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';
import { packageRoot } from '../../simulator/files/index.js';

const IN_FLIGHT = 64;
/** What is judged had been asked shortly before (Clipper 4.2). */
const JUDGED_INPUTS = 512;
const APPLICATION = 'four';

/** Four models of one ensemble, and what they are asked. */
export interface JudgedEnsemble {
  readonly name: string;
  readonly inputType: 'floats' | 'doubles';
  readonly models: readonly string[];
  /** Registers the models, where they are not there by default. */
  readonly register?: (product: ProductProcess) => Promise<void>;
  readonly inputs: (count: number, seed: number) => readonly (Float32Array | Float64Array)[];
}

/** Of the models that come with the product four as in Clipper 4.2, with a perceptron for its second linear SVM. */
export const KERNEL_MODELS: JudgedEnsemble = {
  name: 'kernels',
  inputType: 'floats',
  models: ['digits-linear-svm', 'digits-logistic', 'digits-mlp', 'digits-random-forest'],
  inputs: (count, seed) => {
    const set = heldOutDigits();
    const draw = new KeyedDraw(seed).of('judged digits');
    return Array.from({ length: count }, () =>
      Float32Array.from(digitAt(set, Math.floor(draw() * set.count))),
    );
  },
};

/** Four processes whose models answer at once: all that evaluating costs is the way to them. */
export const INSTANT_MODELS: JudgedEnsemble = {
  name: 'instant models',
  inputType: 'doubles',
  models: ['one', 'two', 'three', 'four'],
  register: async (product) => {
    const path = join(packageRoot(), 'dist/loadtest/bench/noopModel.js');
    for (const name of INSTANT_MODELS.models)
      await product.admin('add_model', {
        model_name: name,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/process',
        model_data_path: path,
      });
  },
  inputs: (count, seed) =>
    Array.from({ length: count }, (_, at) => Float64Array.of(seed, at, 0, 0, 0, 0, 0, 0)),
};

/** What names a judged query: its input, with the prediction cache or without, or its id. */
export type JudgedBy = 'input, cached' | 'input, not cached' | 'query';

export interface FeedbackRate {
  readonly perSecond: number;
  readonly errors: number;
  /** How often predictions were found in each way. */
  readonly joined: Readonly<Record<string, number>>;
}

/**
 * Feedback that a server learns a second, in a process of its own, from one client over a WebSocket. Its inputs had been asked before.
 * @param seconds that count, behind as many inputs to warm up with
 */
export async function feedbackRate(
  ensemble: JudgedEnsemble,
  by: JudgedBy,
  seconds: number,
  seed: number,
): Promise<FeedbackRate> {
  const cache = by === 'input, not cached' ? ['--cache-mib', '0'] : [];
  const product = await startWindjammer(commandFile(), APPLICATION, cache);
  try {
    await ensemble.register?.(product);
    await product.admin('add_app', {
      name: APPLICATION,
      input_type: ensemble.inputType,
      default_output: '-',
      latency_slo_micros: 5_000_000,
      policy: { name: 'weighted' },
    });
    await product.admin('add_model_links', { app_name: APPLICATION, model_names: ensemble.models });
    const client = await WebSocketClient.connect(product.webSocketUrl, { maxInFlight: IN_FLIGHT });
    const inputs = ensemble.inputs(JUDGED_INPUTS, seed);
    const ask = async (at: number): Promise<string> =>
      (await client.predict(APPLICATION, inputs[at % JUDGED_INPUTS])).queryId;
    const joined = new Map<string, number>();
    let [judged, errors, seen] = [0, 0, 0];
    const judge = async (at: number, queryId: string | undefined): Promise<void> => {
      const what = queryId === undefined ? { input: inputs[at % JUDGED_INPUTS] } : { queryId };
      const feedback: Feedback = { ...what, label: 7 };
      try {
        const result = await client.feedback(APPLICATION, feedback);
        joined.set(result.joined, (joined.get(result.joined) ?? 0) + 1);
        judged += 1;
      } catch {
        errors += 1;
      }
    };
    const round = async (): Promise<number> => {
      // A query is judged once: others are asked first, off the clock.
      const ids: string[] = [];
      if (by === 'query') await together(JUDGED_INPUTS, async (at) => void (ids[at] = await ask(at)));
      const from = performance.now();
      await together(JUDGED_INPUTS, (at) => judge(at, ids[at]));
      return (performance.now() - from) / 1000;
    };
    await together(JUDGED_INPUTS, async (at) => void (await ask(at)));
    // Hot code of kernels is compiled meanwhile.
    for (let warm = 0; warm < 4; warm++) await round();
    joined.clear();
    [judged, errors] = [0, 0];
    while (seen < seconds) seen += await round();
    await client.close();
    return { perSecond: judged / seen, errors, joined: Object.fromEntries(joined) };
  } finally {
    await product.stop();
  }
}

/** So many calls, `IN_FLIGHT` at a time. */
export async function together(count: number, call: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < count; at = next++) await call(at);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}
