export type { QueryTap } from './queryTap.js';
export type { Complaint } from './complaint.js';
export { Telemetry, type TelemetrySources } from './telemetry.js';
