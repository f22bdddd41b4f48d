export type { QueryTap } from './queryTap.js';
export type { Complaint } from './complaint.js';
export { traceDetail } from './traceDetail.js';
export { Telemetry, type BatchTracer, type TelemetrySources } from './telemetry.js';
