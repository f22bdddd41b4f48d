import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorDocumentation } from './documentation.js';
import { pythonCodes } from './pythonCodes.js';
import { asServiceError, ERROR_CATALOGUE, ERROR_CODES, errorJson, ServiceError } from './index.js';

describe('error catalogue', () => {
  it('has snake_case codes, client or server statuses, and whole sentences', () => {
    for (const code of ERROR_CODES) {
      const row = ERROR_CATALOGUE[code];
      expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect(row.status).toBeGreaterThanOrEqual(400);
      expect(row.status).toBeLessThan(600);
      expect(row.meaning).toMatch(/\.$/);
      expect(row.fix).toMatch(/\.$/);
    }
  });

  it('agrees with docs/reference/errors.md', () => {
    expect(readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')).toBe(
      errorDocumentation(),
    );
  });

  it('agrees with what the client in Python knows', () => {
    const file = '../client/python/windjammer/error_codes.py';
    expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toBe(pythonCodes());
  });

  it('writes bodies that parse', () => {
    expect(JSON.parse(errorJson('wrong_type', 'a "quoted"\nmessage', 'input[1]'))).toEqual({
      error: { code: 'wrong_type', message: 'a "quoted"\nmessage', field: 'input[1]' },
    });
    expect(JSON.parse(errorJson('internal', 'x'))).toEqual({ error: { code: 'internal', message: 'x' } });
  });

  it('wraps anything thrown and keeps its cause away from the client', () => {
    const cause = new Error('a secret path');
    const wrapped = asServiceError(cause);
    expect(wrapped.code).toBe('internal');
    expect(wrapped.status).toBe(500);
    expect(wrapped.cause).toBe(cause);
    expect(wrapped.message).not.toContain('secret');
    expect(wrapped.message).toContain(`request ${wrapped.request}`);
    expect(asServiceError(cause).request).not.toBe(wrapped.request);
    expect(asServiceError(cause, 'q-1').request).toBe('q-1');
    const own = new ServiceError('unknown_model', 'm');
    expect(asServiceError(own)).toBe(own);
  });

  it('tells whatever failed for want of file handles, also behind other errors and from other threads', () => {
    const system = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    const read = new Error('manifest.json cannot be read', { cause: system });
    const wrapped = new ServiceError('invalid_model', 'manifest.json', 'model_data_path', { cause: read });
    for (const thrown of [system, read, wrapped, new Error('Worker initialization failure: EMFILE')]) {
      expect(asServiceError(thrown)).toMatchObject({ code: 'too_many_open_files', status: 503 });
    }
    const unreadable = new SyntaxError('Unexpected token \'E\', "EMFILE" is not valid JSON');
    expect(asServiceError(new ServiceError('not_json', 'x', undefined, { cause: unreadable })).code).toBe(
      'not_json',
    );
  });
});
