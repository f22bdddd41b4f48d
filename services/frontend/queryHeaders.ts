import type { IncomingHttpHeaders } from 'node:http';
import { LAUNCH_CLASSES, launchClassNamed, type LaunchClass } from '../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../errors/index.js';
import { LOWEST_PRIORITY } from './schemas.js';

/** What headers say about the queries of a request. */
export interface QueryHeaders {
  readonly strict: boolean | undefined;
  readonly priority: number | undefined;
  readonly launchClass: LaunchClass | undefined;
  /** When the answer is due, on the clock of `performance.now`. */
  readonly dueMs: number | undefined;
}

export const STRICT_HEADER = 'x-windjammer-strict';
/** Not `priority`: that one browsers send with every request (RFC 9218), and it means something else. */
export const PRIORITY_HEADER = 'x-windjammer-priority';
export const CLASS_HEADER = 'x-windjammer-launch-class';
export const TIMEOUT_HEADER = 'x-request-timeout-ms';
export const GRPC_TIMEOUT_HEADER = 'grpc-timeout';

/** Of requests without any of them: nothing is made for those. */
const NONE: QueryHeaders = {
  strict: undefined,
  priority: undefined,
  launchClass: undefined,
  dueMs: undefined,
};

/**
 * To be read when the headers have arrived: what reading the body takes is part of the time.
 * @returns an error that names the header
 */
export function readQueryHeaders(headers: IncomingHttpHeaders): QueryHeaders | ServiceError {
  const strict = headers[STRICT_HEADER];
  const priority = headers[PRIORITY_HEADER];
  const named = headers[CLASS_HEADER];
  const timeout = headers[TIMEOUT_HEADER];
  const grpcTimeout = headers[GRPC_TIMEOUT_HEADER];
  if (
    strict === undefined &&
    priority === undefined &&
    named === undefined &&
    timeout === undefined &&
    grpcTimeout === undefined
  ) {
    return NONE;
  }
  if (strict !== undefined && strict !== 'true' && strict !== 'false') {
    return invalid(STRICT_HEADER, 'true or false', strict);
  }
  const urgency = priority === undefined ? undefined : readPriority(priority);
  if (urgency === null)
    return invalid(PRIORITY_HEADER, `a whole number from 1 to ${LOWEST_PRIORITY}`, priority);
  const launchClass = typeof named === 'string' ? launchClassNamed(named) : undefined;
  if (named !== undefined && launchClass === undefined) {
    return invalid(CLASS_HEADER, `one of ${LAUNCH_CLASSES.join(', ')}`, named);
  }
  const ms = timeout === undefined ? Infinity : readMilliseconds(timeout);
  if (ms === undefined) return invalid(TIMEOUT_HEADER, 'a whole number of milliseconds from 1', timeout);
  const grpcMs = grpcTimeout === undefined ? Infinity : readGrpcTimeout(grpcTimeout);
  if (grpcMs === undefined) {
    const form = '1 to 8 digits above 0 and one of H, M, S, m, u, n, such as 100m for 100 milliseconds';
    return invalid(GRPC_TIMEOUT_HEADER, form, grpcTimeout);
  }
  const leftMs = Math.min(ms, grpcMs);
  return {
    strict: strict === undefined ? undefined : strict === 'true',
    priority: urgency,
    launchClass,
    dueMs: leftMs === Infinity ? undefined : performance.now() + leftMs,
  };
}

/**
 * How long a query may take: what is left until the request is due, and its objective, whichever is shorter.
 * @returns nanoseconds, 0 for a time that is over; undefined: as long as the application's objective
 */
export function queryBudgetNs(
  applicationUs: number,
  objectiveUs: number | undefined,
  dueMs: number | undefined,
): number | undefined {
  const objectiveNs = objectiveUs === undefined ? undefined : Math.min(objectiveUs, applicationUs) * 1000;
  if (dueMs === undefined) return objectiveNs;
  const leftNs = Math.max(0, Math.round((dueMs - performance.now()) * 1e6));
  return Math.min(leftNs, objectiveNs ?? applicationUs * 1000);
}

function readPriority(text: string | string[]): number | null {
  return typeof text === 'string' && PRIORITY.test(text) ? Number(text) : null;
}

const PRIORITY = new RegExp(`^[1-${LOWEST_PRIORITY}]$`);

function readMilliseconds(text: string | string[]): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,12}$/.test(text)) return undefined;
  const value = Number(text);
  return value > 0 ? value : undefined;
}

const GRPC_UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);

/** `TimeoutValue TimeoutUnit` of gRPC over HTTP/2. */
function readGrpcTimeout(text: string | string[]): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,8}[HMSmun]$/.test(text)) return undefined;
  const value = Number(text.slice(0, -1)) * (GRPC_UNIT_MS.get(text.slice(-1)) ?? 0);
  return value > 0 ? value : undefined;
}

function invalid(header: string, expected: string, value: unknown): ServiceError {
  return new ServiceError(
    'invalid_value',
    `${header} must be ${expected}; ${describeValue(value)} came`,
    header,
  );
}
