import { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
import { isOutOfFileHandles } from './fileHandles.js';

/** An error for a client: a code of the catalogue, a message with what was expected and what came, the field at fault. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** Of a defect: the name of the request in the log. */
  readonly request: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly field?: string,
    options?: ErrorOptions & { readonly request?: string | undefined },
  ) {
    super(message, options);
    this.request = options?.request;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}

/** Of requests that failed and have no id of their own. */
let unnamed = 0;

/**
 * Anything thrown, as a ServiceError. Whatever failed for want of file handles says so; what else is none becomes
 * `internal`, keeps its cause and shows no detail to the client, who is told under which name the log has them.
 * @param request the query's id, where there is one already
 */
export function asServiceError(thrown: unknown, request?: string): ServiceError {
  if (isOutOfFileHandles(thrown)) {
    const message = 'the server can open no more files: connections and models have all that it may';
    return new ServiceError('too_many_open_files', message, undefined, { cause: thrown });
  }
  if (thrown instanceof ServiceError) return thrown;
  const name = request ?? `defect-${++unnamed}`;
  const message = `the server failed on this request; its log has the details of request ${name}`;
  return new ServiceError('internal', message, undefined, { cause: thrown, request: name });
}

const PASSES_SOON: ReadonlySet<ErrorCode> = new Set([
  'too_much_buffered',
  'too_many_open_files',
  'store_failed',
  'redis_away',
  'holder_silent',
  'feedback_not_kept',
  'too_many_uploads',
]);

/** What another try in a second may get: answered with `Retry-After: 1`. */
export function passesSoon(code: ErrorCode): boolean {
  return PASSES_SOON.has(code);
}

/** JSON text of an error's body. */
export function errorJson(code: ErrorCode, message: string, field?: string, retryAfterMs?: number): string {
  let json = `{"error":{"code":"${code}","message":${JSON.stringify(message)}`;
  if (field !== undefined) json += `,"field":${JSON.stringify(field)}`;
  if (retryAfterMs !== undefined) json += `,"retry_after_ms":${retryAfterMs}`;
  return `${json}}}`;
}

/** A value as an error message shows it: short, and with its type where the text alone would mislead. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (isList(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return `a ${typeof value}`;
}

/** An array, or what stands for one that is long. */
function isList(value: unknown): value is { readonly length: number } {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'length' in value;
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 37)}...`;
}
