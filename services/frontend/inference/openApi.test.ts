import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { inferenceErrorSchema } from './schemas.js';
import { INFERENCE_OPERATIONS } from './index.js';
import { InferenceHarness, pixels } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  const done = () => Promise.resolve();
  harness = await InferenceHarness.start({
    repository: {
      state: () => ({ state: 'READY', reason: '' }),
      isLoaded: () => true,
      load: done,
      unload: done,
    },
    isRepositoryControlled: true,
  });
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>>;
}

describe('the OpenAPI document', () => {
  it('names every route below /v2, each error in the shape of the protocol', async () => {
    const { paths } = (await harness.get('/openapi.json')).json as Document;
    const own = Object.entries(paths).filter(([path]) => path.startsWith('/v2'));
    expect(own.map(([path]) => path).sort()).toEqual([
      '/v2',
      '/v2/health/live',
      '/v2/health/ready',
      '/v2/models/stats',
      '/v2/models/{model}',
      '/v2/models/{model}/config',
      '/v2/models/{model}/infer',
      '/v2/models/{model}/ready',
      '/v2/models/{model}/stats',
      '/v2/models/{model}/versions/{version}',
      '/v2/models/{model}/versions/{version}/config',
      '/v2/models/{model}/versions/{version}/infer',
      '/v2/models/{model}/versions/{version}/ready',
      '/v2/models/{model}/versions/{version}/stats',
      '/v2/repository/index',
      '/v2/repository/models/{model}/load',
      '/v2/repository/models/{model}/unload',
    ]);
    for (const [path, operations] of own) {
      for (const { responses } of Object.values(operations)) {
        for (const [status, { content }] of Object.entries(responses)) {
          if (status === '200') continue;
          const schema = { $ref: '#/components/schemas/InferenceError' };
          expect(content, path).toEqual({ 'application/json': { schema } });
        }
      }
    }
  });

  it('describes what each route answers, with nothing left out', async () => {
    const scores = new Float32Array(10);
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '7',
      scores,
    });
    const outputs = [{ name: 'scores', parameters: { classification: 2 } }, { name: 'label' }];
    for (const { method, path, request, answer } of INFERENCE_OPERATIONS) {
      const url = path.replace('{model}', 'digits').replace('{version}', '1');
      const body = path.endsWith('/infer') ? { id: 'x', ...pixels(2), parameters: { mine: 1 }, outputs } : {};
      if (request !== undefined) expect(request.safeParse(body).success, path).toBe(true);
      const sent = method === 'get' ? await harness.get(url) : await harness.post(url, body);
      expect(sent.status, `${method} ${url}`).toBe(200);
      (answer as z.ZodType).parse(sent.json);
      const { json, status } = await harness.get(`${url}/nothing`);
      expect(status).toBeGreaterThanOrEqual(400);
      inferenceErrorSchema.parse(json);
    }
  });
});
