import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { FrontendHarness, type SendOptions } from './harness.js';

/** One kind of bad request: what is sent, and the error that answers it. */
interface BadRequest extends SendOptions {
  readonly what: string;
  readonly path: string;
  readonly code: ErrorCode;
  readonly field?: string;
}

const json = { 'content-type': 'application/json' };

const BAD_REQUESTS: readonly BadRequest[] = [
  // The route.
  {
    what: 'unknown application',
    path: '/nobody/predict',
    body: '{"input":[1]}',
    code: 'unknown_application',
  },
  { what: 'a pattern as name', path: '/.*/predict', body: '{"input":[1]}', code: 'unknown_application' },
  {
    what: 'a prototype as name',
    path: '/__proto__/predict',
    body: '{"input":[1]}',
    code: 'unknown_application',
  },
  {
    what: 'a constructor as name',
    path: '/constructor/predict',
    body: '{"input":[1]}',
    code: 'unknown_application',
  },
  { what: 'an empty name', path: '//predict', body: '{"input":[1]}', code: 'unknown_application' },
  { what: 'no name', path: '/predict', body: '{"input":[1]}', code: 'unknown_application' },
  {
    what: 'a name of 300 characters',
    path: `/${'a'.repeat(300)}/predict`,
    body: '{"input":[1]}',
    code: 'unknown_application',
  },
  {
    what: 'an encoded slash',
    path: '/dou%2Fbles/predict',
    body: '{"input":[1]}',
    code: 'unknown_application',
  },
  { what: 'encoded unicode', path: '/%E2%98%83/predict', body: '{"input":[1]}', code: 'unknown_application' },
  { what: 'a broken encoding', path: '/%E2%98/predict', body: '{"input":[1]}', code: 'malformed_url' },
  { what: 'half an encoding', path: '/%/predict', body: '{"input":[1]}', code: 'malformed_url' },
  { what: 'a broken encoding elsewhere', path: '/%E2%98', method: 'GET', code: 'unknown_route' },
  {
    what: 'two slashes at the end',
    path: '/doubles/predict//',
    body: '{"input":[1]}',
    code: 'unknown_route',
  },
  { what: 'a longer path', path: '/a/doubles/predict', body: '{"input":[1]}', code: 'unknown_route' },
  { what: 'no such route', path: '/nothing', method: 'GET', code: 'unknown_route' },
  { what: 'the root', path: '/', method: 'GET', code: 'unknown_route' },
  { what: 'GET on predict', path: '/doubles/predict', method: 'GET', code: 'method_not_allowed' },
  { what: 'PUT on predict', path: '/doubles/predict', method: 'PUT', body: '{}', code: 'method_not_allowed' },
  { what: 'DELETE on update', path: '/doubles/update', method: 'DELETE', code: 'method_not_allowed' },
  { what: 'POST on metrics', path: '/metrics', body: '{}', code: 'method_not_allowed' },
  // The body as a body.
  {
    what: 'no content type',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { 'content-type': '' },
    code: 'unsupported_media_type',
  },
  {
    what: 'a form',
    path: '/doubles/predict',
    body: 'input=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    code: 'unsupported_media_type',
  },
  {
    what: 'text',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { 'content-type': 'text/plain' },
    code: 'unsupported_media_type',
  },
  {
    what: 'another charset',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { 'content-type': 'application/json; charset=latin1' },
    code: 'unsupported_media_type',
  },
  {
    what: 'an unknown coding',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { ...json, 'content-encoding': 'compress' },
    code: 'unsupported_media_type',
  },
  {
    what: 'two codings',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { ...json, 'content-encoding': 'gzip, br' },
    code: 'unsupported_media_type',
  },
  {
    what: 'no gzip data',
    path: '/doubles/predict',
    body: '{"input":[1]}',
    headers: { ...json, 'content-encoding': 'gzip' },
    code: 'malformed_encoding',
  },
  { what: 'an empty body', path: '/doubles/predict', body: '', headers: json, code: 'not_json' },
  { what: 'no JSON', path: '/doubles/predict', body: 'input: 1', code: 'not_json' },
  { what: 'half of the JSON', path: '/doubles/predict', body: '{"input":[1,', code: 'not_json' },
  { what: 'two values', path: '/doubles/predict', body: '{"input":[1]}{}', code: 'not_json' },
  { what: 'NaN', path: '/doubles/predict', body: '{"input":[NaN]}', code: 'not_json' },
  { what: 'Infinity', path: '/doubles/predict', body: '{"input":[Infinity]}', code: 'not_json' },
  {
    what: 'invalid UTF-8',
    path: '/doubles/predict',
    body: Buffer.from('{"input":"\xff"}', 'latin1'),
    code: 'not_utf8',
  },
  {
    what: 'a byte order mark of UTF-16',
    path: '/doubles/predict',
    body: Buffer.from('\ufeff{}', 'utf16le'),
    code: 'not_utf8',
  },
  { what: 'null', path: '/doubles/predict', body: 'null', code: 'wrong_type' },
  { what: 'an array', path: '/doubles/predict', body: '[]', code: 'wrong_type' },
  { what: 'a number', path: '/doubles/predict', body: '3', code: 'wrong_type' },
  {
    what: 'oversize',
    path: '/doubles/predict',
    body: `{"input":[${'1,'.repeat(5000)}1]}`,
    code: 'body_too_large',
  },
  {
    what: 'oversize in chunks',
    path: '/doubles/predict',
    body: ' '.repeat(200_000),
    headers: { ...json, 'transfer-encoding': 'chunked' },
    code: 'body_too_large',
  },
  // Fields.
  { what: 'no input', path: '/doubles/predict', body: '{}', code: 'missing_field', field: 'input' },
  {
    what: 'input under __proto__',
    path: '/doubles/predict',
    body: '{"__proto__":{"input":[1]}}',
    code: 'missing_field',
    field: 'input',
  },
  {
    what: 'input and batch',
    path: '/doubles/predict',
    body: '{"input":[1],"input_batch":[[1]]}',
    code: 'conflicting_fields',
  },
  {
    what: 'input null',
    path: '/doubles/predict',
    body: '{"input":null}',
    code: 'wrong_type',
    field: 'input',
  },
  {
    what: 'input a string',
    path: '/doubles/predict',
    body: '{"input":"1"}',
    code: 'wrong_type',
    field: 'input',
  },
  {
    what: 'input an object',
    path: '/doubles/predict',
    body: '{"input":{"0":1,"length":1}}',
    code: 'wrong_type',
    field: 'input',
  },
  {
    what: 'an empty input',
    path: '/doubles/predict',
    body: '{"input":[]}',
    code: 'empty_input',
    field: 'input',
  },
  {
    what: 'a nested array',
    path: '/doubles/predict',
    body: '{"input":[1,[2]]}',
    code: 'wrong_type',
    field: 'input[1]',
  },
  {
    what: 'null inside',
    path: '/doubles/predict',
    body: '{"input":[null]}',
    code: 'wrong_type',
    field: 'input[0]',
  },
  {
    what: 'a boolean inside',
    path: '/doubles/predict',
    body: '{"input":[1,2,true]}',
    code: 'wrong_type',
    field: 'input[2]',
  },
  {
    what: 'a numeric string inside',
    path: '/doubles/predict',
    body: '{"input":["1"]}',
    code: 'wrong_type',
    field: 'input[0]',
  },
  {
    what: '1e400',
    path: '/doubles/predict',
    body: '{"input":[1e400]}',
    code: 'number_out_of_range',
    field: 'input[0]',
  },
  {
    what: '-1e400',
    path: '/doubles/predict',
    body: '{"input":[1,-1e400]}',
    code: 'number_out_of_range',
    field: 'input[1]',
  },
  {
    what: '1e39 as a float',
    path: '/floats/predict',
    body: '{"input":[1e39]}',
    code: 'number_out_of_range',
    field: 'input[0]',
  },
  {
    what: 'a fraction as an integer',
    path: '/integers/predict',
    body: '{"input":[1.5]}',
    code: 'number_out_of_range',
    field: 'input[0]',
  },
  {
    what: 'beyond int32',
    path: '/integers/predict',
    body: '{"input":[2147483648]}',
    code: 'number_out_of_range',
    field: 'input[0]',
  },
  {
    what: 'below int32',
    path: '/integers/predict',
    body: '{"input":[-2147483649]}',
    code: 'number_out_of_range',
    field: 'input[0]',
  },
  {
    what: 'bytes as an array',
    path: '/bytes/predict',
    body: '{"input":[1,2]}',
    code: 'wrong_type',
    field: 'input',
  },
  {
    what: 'no base64',
    path: '/bytes/predict',
    body: '{"input":"a*b="}',
    code: 'invalid_base64',
    field: 'input',
  },
  {
    what: 'base64 without padding',
    path: '/bytes/predict',
    body: '{"input":"YQ"}',
    code: 'invalid_base64',
    field: 'input',
  },
  {
    what: 'base64 for the web',
    path: '/bytes/predict',
    body: '{"input":"_-__"}',
    code: 'invalid_base64',
    field: 'input',
  },
  { what: 'no bytes', path: '/bytes/predict', body: '{"input":""}', code: 'empty_input', field: 'input' },
  {
    what: 'a number as a string',
    path: '/strings/predict',
    body: '{"input":7}',
    code: 'wrong_type',
    field: 'input',
  },
  {
    what: 'an empty string',
    path: '/strings/predict',
    body: '{"input":""}',
    code: 'empty_input',
    field: 'input',
  },
  {
    what: 'a batch that is none',
    path: '/doubles/predict',
    body: '{"input_batch":3}',
    code: 'wrong_type',
    field: 'input_batch',
  },
  {
    what: 'an empty batch',
    path: '/doubles/predict',
    body: '{"input_batch":[]}',
    code: 'empty_batch',
    field: 'input_batch',
  },
  {
    what: 'too large a batch',
    path: '/doubles/predict',
    body: `{"input_batch":[${'1,'.repeat(4096)}1]}`,
    code: 'batch_too_large',
    field: 'input_batch',
  },
  {
    what: 'a version that is no string',
    path: '/doubles/predict',
    body: '{"input":[1],"version":2}',
    code: 'wrong_type',
    field: 'version',
  },
  {
    what: 'an empty version',
    path: '/doubles/predict',
    body: '{"input":[1],"version":""}',
    code: 'invalid_value',
    field: 'version',
  },
  {
    what: 'a uid that is an object',
    path: '/doubles/predict',
    body: '{"input":[1],"uid":{}}',
    code: 'wrong_type',
    field: 'uid',
  },
  {
    what: 'a uid with a fraction',
    path: '/doubles/predict',
    body: '{"input":[1],"uid":1.5}',
    code: 'wrong_type',
    field: 'uid',
  },
  {
    what: 'half of a surrogate pair',
    path: '/doubles/predict',
    body: '{"input":[1],"uid":"\\ud800"}',
    code: 'invalid_value',
    field: 'uid',
  },
  {
    what: 'too long a context',
    path: '/doubles/predict',
    body: `{"input":[1],"context":"${'x'.repeat(129)}"}`,
    code: 'invalid_value',
    field: 'context',
  },
  {
    what: 'uid and context',
    path: '/doubles/predict',
    body: '{"input":[1],"uid":1,"context":"a"}',
    code: 'conflicting_fields',
    field: 'context',
  },
  {
    what: 'an objective of 0',
    path: '/doubles/predict',
    body: '{"input":[1],"latency_slo_micros":0}',
    code: 'invalid_value',
    field: 'latency_slo_micros',
  },
  {
    what: 'an objective below 0',
    path: '/doubles/predict',
    body: '{"input":[1],"latency_slo_micros":-5}',
    code: 'invalid_value',
    field: 'latency_slo_micros',
  },
  {
    what: 'strict as text',
    path: '/doubles/predict',
    body: '{"input":[1],"strict":"yes"}',
    code: 'wrong_type',
    field: 'strict',
  },
  // Feedback.
  {
    what: 'feedback on nothing',
    path: '/doubles/update',
    body: '{"label":1}',
    code: 'missing_field',
    field: 'query_id',
  },
  {
    what: 'feedback on two things',
    path: '/doubles/update',
    body: '{"label":1,"input":[1],"query_id":"a"}',
    code: 'conflicting_fields',
    field: 'query_id',
  },
  {
    what: 'no label',
    path: '/doubles/update',
    body: '{"query_id":"a"}',
    code: 'missing_field',
    field: 'label',
  },
  {
    what: 'a label that is an object',
    path: '/doubles/update',
    body: '{"query_id":"a","label":{}}',
    code: 'wrong_type',
    field: 'label',
  },
  {
    what: 'an endless label',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1e400}',
    code: 'number_out_of_range',
    field: 'label',
  },
  {
    what: 'a loss as text',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":"0.5"}',
    code: 'wrong_type',
    field: 'loss',
  },
  {
    what: 'a loss above 1',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":1.5}',
    code: 'invalid_value',
    field: 'loss',
  },
  {
    what: 'a loss below 0',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":-0.1}',
    code: 'invalid_value',
    field: 'loss',
  },
  {
    what: 'a query id that is a number',
    path: '/doubles/update',
    body: '{"query_id":3,"label":1}',
    code: 'wrong_type',
    field: 'query_id',
  },
  {
    what: 'feedback on a bad input',
    path: '/doubles/update',
    body: '{"input":[],"label":1}',
    code: 'empty_input',
    field: 'input',
  },
];

describe('bad requests', () => {
  let harness: FrontendHarness;
  let connection: number | undefined;

  beforeAll(async () => {
    harness = await FrontendHarness.start({ maxBodyBytes: 9000 });
    connection = (await harness.predict('doubles', { input: [1] })).localPort;
  });
  beforeEach(() => {
    harness.service.queries.length = 0;
    harness.service.feedback.length = 0;
  });
  afterAll(() => harness.close());

  it.each(BAD_REQUESTS)('$what → $code', async ({ path, method, body, headers, code, field }) => {
    const answer = await harness.send(path, { method, body, headers });
    expect(answer.status).toBe(ERROR_CATALOGUE[code].status);
    const { error } = answer.json as { error: { code: string; message: string; field?: string } };
    expect(error.code).toBe(code);
    expect(error.message.length).toBeGreaterThan(5);
    if (field !== undefined) expect(error.field).toBe(field);
    if (code === 'method_not_allowed') expect(answer.headers.allow).toMatch(/^(POST|GET, HEAD)$/);
    expect(harness.service.queries).toEqual([]);
    expect(harness.service.feedback).toEqual([]);

    // Nothing else is disturbed, and the connection goes on.
    const next = await harness.predict('doubles', { input: [1, 2] });
    expect(next.status).toBe(200);
    expect(next.localPort).toBe(connection);
  });

  it('refuses a HEAD on a hot route without a body', async () => {
    const answer = await harness.send('/doubles/predict', { method: 'HEAD' });
    expect(answer.status).toBe(405);
    expect(answer.text).toBe('');
  });

  it('counts refusals under registered applications only', async () => {
    harness.refused.length = 0;
    await harness.predict('doubles', { input: [] });
    await harness.predict('nobody', { input: [1] });
    expect(harness.refused).toEqual(['doubles:empty_input', '-:unknown_application']);
  });
});
