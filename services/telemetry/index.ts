export type { QueryTap } from './queryTap.js';
export { Telemetry, type Complaint, type TelemetrySources } from './telemetry.js';
