import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { floats, InferenceHarness, LONG } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

const PARAMETERS =
  '{"seed":9007199254740993,"big":-12345678901234567890123,"zero":-0,"share":0.30000000000000004,"safe":1}';

it.each(['', ' '.repeat(20_000)])(
  'answers parameters to the last digit, in bodies of any size',
  async (space) => {
    const { inputs } = floats([[1, 2]]) as { inputs: object };
    const body = `{${space}"parameters":${PARAMETERS},"inputs":${JSON.stringify(inputs)}}`;
    const answer = await harness.postText('/v2/models/pair/infer', body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain(`"parameters":${PARAMETERS}`);
  },
);

it('refuses a count that no count can be', async () => {
  const { inputs } = floats([[1, 2]]) as { inputs: object };
  const body = `{"parameters":{"priority":9007199254740993},"inputs":${JSON.stringify(inputs)}}`;
  const answer = await harness.postText('/v2/models/pair/infer', body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('parameters.priority must be a whole number');
});

it('answers labels of INT64 to the last digit, as JSON and as binary data', async () => {
  harness.service.vote = ({ model, version }) => ({ name: model, version, cached: false, output: LONG });
  const json = await harness.infer('long', floats([[1, 2]]));
  expect(json.text).toContain(`"datatype":"INT64","shape":[1],"data":[${LONG}]`);
  const url = `http://127.0.0.1:${harness.port}/v2/models/long/infer`;
  const body = JSON.stringify({ ...floats([[1, 2]]), parameters: { binary_data_output: true } });
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.readBigInt64LE(Number(response.headers.get('inference-header-content-length')))).toBe(
    BigInt(LONG),
  );
});

it('keeps -0 of inputs and outputs', async () => {
  harness.service.vote = ({ model, version }) => ({
    name: model,
    version,
    cached: false,
    output: '3',
    scores: Float32Array.of(-0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  });
  const inputs = `[{"name":"pixels","datatype":"FP32","shape":[1,784],"data":[-0${',0'.repeat(783)}]}]`;
  const answer = await harness.postText('/v2/models/digits/infer', `{"inputs":${inputs}}`);
  expect(answer.text).toContain('"data":[-0,0,0');
  const { input } = harness.service.evaluations[0];
  expect(Object.is(new Float32Array(input.slice().buffer)[0], -0)).toBe(true);
});
