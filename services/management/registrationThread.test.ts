import { expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { ServiceError } from '../errors/index.js';
import { modelRecord } from './modelRegistration.js';
import { modelRecordAside } from './registrationThread.js';
import { addModelSchema } from './schemas.js';
import { validate } from './validation.js';

const request = (path: string) =>
  validate(addModelSchema, {
    model_name: 'm',
    model_version: '1',
    input_type: 'floats',
    container_name: 'windjammer/kernel-model',
    model_data_path: path,
  });

it('reads a model aside, and comes to the same record', async () => {
  const digits = request(builtInModelPath('digits-linear-svm'));
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  const record = await modelRecordAside(digits, ['h200']);
  clearInterval(turning);
  // Whoever else is served has had turns meanwhile.
  expect(turns).toBeGreaterThan(0);
  expect(record).toEqual(modelRecord(digits, ['h200']));
  expect(record.contentHash).toMatch(/^[0-9a-f]{64}$/);
});

it('refuses what it would refuse otherwise', async () => {
  const error: unknown = await modelRecordAside(request('/nowhere'), []).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'invalid_model', field: 'model_data_path' });
  expect((error as ServiceError).message).toContain('/nowhere/manifest.json');
});

it('asks one thread again, and others beside it', async () => {
  const before = await modelRecordAside(request(builtInModelPath('digits-logistic')), []);
  const [again, other, refused] = await Promise.allSettled([
    modelRecordAside(request(builtInModelPath('digits-logistic')), []),
    modelRecordAside(request(builtInModelPath('digits-mlp')), []),
    modelRecordAside(request('/nowhere'), []),
  ]);
  expect(again).toEqual({ status: 'fulfilled', value: before });
  expect(other.status).toBe('fulfilled');
  expect(refused.status).toBe('rejected');
});
