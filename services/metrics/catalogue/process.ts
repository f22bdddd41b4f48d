import { counter, gauge } from '../metric.js';

/** Of those that the library has of the process: what dashboards and rules ask for. */
export const PROCESS_METRICS = {
  process_cpu_seconds_total: counter([], 'Time on processors', 'seconds'),
  process_resident_memory_bytes: gauge([], 'Memory', 'bytes'),
  nodejs_eventloop_lag_p99_seconds: gauge([], 'How late the main thread gets to what is due', 'seconds'),
} as const;
