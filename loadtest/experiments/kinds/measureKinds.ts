import { digitAt, heldOutDigits } from '../../../containers/models/index.js';
import { KeyedDraw } from '../../../selection/index.js';
import { commandFile } from '../../../services/cli/index.js';
import { WebSocketClient } from '../../../services/client/index.js';
import { wholeNumberHistogram } from '../../../simulator/statistics/index.js';
import { startWindjammer, type ProductProcess } from '../../bench/serverProcess.js';
import type { KindOfModel } from './kindsOfModels.js';

const OBJECTIVE_MS = 500;
const START_SECONDS = 60;
const ENSEMBLE = 'ensemble';
const WARM_UP = 50;

/** What an application answered to the digits that it was asked, one after the other. */
export interface KindMeasured {
  readonly name: string;
  readonly way: string;
  readonly error: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly defaults: number;
  /** In the order of the digits. */
  readonly outputs: readonly string[];
}

export interface EnsembleMeasured extends KindMeasured {
  /** Share of digits on which all models agreed, and how many of these answers were wrong. */
  readonly agreed: number;
  readonly agreedError: number;
  /** Predictions that were not there by the deadline, of those asked for. */
  readonly missing: number;
}

export interface MeasuredKinds {
  /** Places of the digits among those held out, in the order in which they were asked. */
  readonly digits: readonly number[];
  readonly singles: readonly KindMeasured[];
  readonly ensemble: EnsembleMeasured;
}

/**
 * Every model behind an application of its own, and all of them behind one whose ensemble learns from feedback on each answer, on a
 * running server without a prediction cache.
 * @param count held-out digits, drawn by the seed, the same for all
 */
export async function measureKinds(
  kinds: readonly KindOfModel[],
  count: number,
  seed: number,
): Promise<MeasuredKinds> {
  const product = await startWindjammer(commandFile(), ENSEMBLE, ['--no-defaults', '--cache-mib', '0']);
  try {
    for (const { name, container } of kinds) await deploy(product, name, container);
    await addApplication(product, ENSEMBLE, 'exp4');
    const names = kinds.map(({ name }) => name);
    await product.admin('add_model_links', { app_name: ENSEMBLE, model_names: names });
    const client = await WebSocketClient.connect(product.webSocketUrl);
    const asked = drawnDigits(count, seed);
    await untilAllAnswer(client, names, asked.inputs[0]);
    const singles: KindMeasured[] = [];
    for (const { name, way } of kinds)
      singles.push({ way, ...(await measure(client, name, asked, names.length)) });
    const ensemble = await measure(client, ENSEMBLE, asked, names.length);
    await client.close();
    return { digits: asked.digits, singles, ensemble: { way: 'exp4 over all', ...ensemble } };
  } finally {
    await product.stop();
  }
}

async function addApplication(product: ProductProcess, name: string, policy: string): Promise<void> {
  await product.admin('add_app', {
    name,
    input_type: 'floats',
    default_output: '-1',
    latency_slo_micros: OBJECTIVE_MS * 1000,
    policy: { name: policy },
  });
}

async function deploy(product: ProductProcess, name: string, container: object): Promise<void> {
  await addApplication(product, name, 'static');
  await product.admin('add_model', {
    model_name: name,
    model_version: '1',
    input_type: 'floats',
    ...container,
  });
  await product.admin('add_model_links', { app_name: name, model_names: [name] });
}

interface Asked {
  readonly digits: readonly number[];
  readonly inputs: readonly Float32Array[];
  readonly labels: readonly string[];
}

function drawnDigits(count: number, seed: number): Asked {
  const set = heldOutDigits();
  const draw = new KeyedDraw(seed).of('asked digits');
  const digits = Array.from({ length: set.count }, (_, at) => ({ at, key: draw() }))
    .sort((one, other) => one.key - other.key)
    .slice(0, count)
    .map(({ at }) => at);
  return {
    digits,
    inputs: digits.map((at) => Float32Array.from(digitAt(set, at))),
    labels: digits.map((at) => `${set.labels[at]}`),
  };
}

async function untilAllAnswer(
  client: WebSocketClient,
  names: readonly string[],
  input: Float32Array,
): Promise<void> {
  const untilMs = performance.now() + START_SECONDS * 1000;
  for (const name of names) {
    while ((await client.predict(name, input)).isDefault) {
      if (performance.now() > untilMs) throw new Error(`'${name}' did not answer in ${START_SECONDS} s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function measure(
  client: WebSocketClient,
  name: string,
  { inputs, labels }: Asked,
  models: number,
): Promise<Omit<EnsembleMeasured, 'way'>> {
  for (let at = 0; at < WARM_UP; at++) await client.predict(name, inputs[at % inputs.length]);
  const latencies = wholeNumberHistogram();
  const outputs: string[] = [];
  let [right, defaults, agreed, agreedRight, missing] = [0, 0, 0, 0, 0];
  for (const [at, input] of inputs.entries()) {
    const from = performance.now();
    const answer = await client.predict(name, input);
    latencies.recordValue((performance.now() - from) * 1e6);
    // An output that is JSON text is answered as what it says.
    const output = String(answer.output);
    outputs.push(output);
    const isRight = output === labels[at];
    if (isRight) right += 1;
    if (answer.isDefault) defaults += 1;
    if (name === ENSEMBLE) {
      missing += models - answer.models.length;
      if (answer.confidence > 1 - 1e-9) {
        agreed += 1;
        if (isRight) agreedRight += 1;
      }
      await client.feedback(name, { queryId: answer.queryId, label: labels[at] });
    }
  }
  return {
    name,
    error: 1 - right / inputs.length,
    p50Ms: latencies.getValueAtPercentile(50) / 1e6,
    p99Ms: latencies.getValueAtPercentile(99) / 1e6,
    defaults: defaults / inputs.length,
    outputs,
    agreed: agreed / inputs.length,
    agreedError: agreed === 0 ? 0 : 1 - agreedRight / agreed,
    missing: missing / (inputs.length * models),
  };
}
