export { Telemetry, type Complaint, type TelemetrySources } from './telemetry.js';
