export { Telemetry, type Complaint, type NodePace, type TelemetrySources } from './telemetry.js';
