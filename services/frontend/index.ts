export { readFeatures } from './features.js';
export { encodeInput } from './inputs.js';
export type { FrontendObserver, RefusedPart } from './observer.js';
export type { RequestTrace, RequestTracing } from './requestTracing.js';
export { DEFAULT_MAX_BODY_BYTES, QueryFrontend, type QueryFrontendOptions } from './queryFrontend.js';
export { inputSchemas, MAX_CLIENT_BATCH, MAX_OBJECTIVE_US } from './schemas.js';
export { LineQueries, type LineLoad, type LineOutcome, type LineQueriesOptions } from './lineQueries.js';
export type { ModelRepository } from './inference/index.js';
export type { Missing } from './missing.js';
