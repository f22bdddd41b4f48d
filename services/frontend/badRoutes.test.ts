import { expect, it } from 'vitest';
import { describeBadRequests, type BadRequest } from './tests/badRequests.js';

const BAD_REQUESTS: readonly BadRequest[] = [
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
];

describeBadRequests('requests to no route', BAD_REQUESTS, (harness) => {
  it('refuses a HEAD on a hot route without a body', async () => {
    const answer = await harness().send('/doubles/predict', { method: 'HEAD' });
    expect(answer.status).toBe(405);
    expect(answer.text).toBe('');
  });
});
