export type { QueryTap } from './queryTap.js';
export { traceDetail } from './traceDetail.js';
export { Telemetry, type BatchTracer, type TelemetrySources } from './telemetry.js';
