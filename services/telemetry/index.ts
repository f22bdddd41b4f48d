export type { HistogramTally } from './histogramTally.js';
export { traceDetail } from './traceDetail.js';
export type { ApplicationTraffic, ModelTraffic, Traffic } from './traffic.js';
export { Telemetry, type BatchTracer, type TelemetrySources } from './telemetry.js';
