import type { Complain } from './exportComplaints.js';
import type { TracingSettings } from './settings.js';
import type { Tracing } from './tracing.js';

export { tracingSettings, TracingSettingError, type TracingSettings } from './settings.js';
export type { Tracing } from './tracing.js';

/** Loads OpenTelemetry's SDK, which costs time and memory that a server without tracing is spared. */
export async function openTracing(settings: TracingSettings, complain: Complain): Promise<Tracing> {
  const { startTraceExport } = await import('./traceExport.js');
  return startTraceExport(settings, complain);
}
