export { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode, type ErrorRow } from './catalogue.js';
export { asServiceError, describeValue, errorJson, passesSoon, ServiceError } from './serviceError.js';
export type { Complaint } from './complaint.js';
