import { describeBadRequests, type BadRequest } from './tests/badRequests.js';

const json = { 'content-type': 'application/json' };

const BAD_REQUESTS: readonly BadRequest[] = [
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
];

describeBadRequests('requests with a body that cannot be read', BAD_REQUESTS);
