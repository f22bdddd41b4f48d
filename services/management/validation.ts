import type { z } from 'zod';
import { describeValue, ServiceError, type ErrorCode } from '../errors/index.js';

type Issue = z.core.$ZodIssue;

/** A body as the schema's type. @throws ServiceError that names the first field at fault. */
export function validate<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw fromIssue(parsed.error.issues[0], body);
}

function fromIssue(issue: Issue, body: unknown): ServiceError {
  if (issue.code === 'unrecognized_keys') {
    const field = fieldName([...issue.path, issue.keys[0]]);
    return new ServiceError('unknown_field', `there is no field ${field}`, field);
  }
  if (issue.path.length === 0) {
    return new ServiceError('wrong_type', `the body must be a JSON object, ${describeValue(body)} came`);
  }
  const field = fieldName(issue.path);
  const value = valueAt(body, issue.path);
  if (value === undefined) return new ServiceError('missing_field', `${field} is required`, field);
  const code: ErrorCode = issue.code === 'invalid_type' ? 'wrong_type' : 'invalid_value';
  return new ServiceError(code, `${field}: ${expectation(issue)}, ${describeValue(value)} came`, field);
}

function expectation(issue: Issue): string {
  const text = issue.message.replace(/^Invalid (input|option): /, '').replace(/, received .*$/, '');
  // A record is what a schema calls an object of any names.
  return (text.charAt(0).toLowerCase() + text.slice(1)).replace(/^expected record$/, 'expected object');
}

function fieldName(path: readonly PropertyKey[]): string {
  let field = '';
  for (const part of path) {
    if (typeof part === 'number') field += `[${part}]`;
    else field += field === '' ? String(part) : `.${String(part)}`;
  }
  return field;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}
