export type { Arrival, Trace } from './trace.js';
export { endsByItself, openTrace, TRACE_FORMS, type TraceRequest } from './traceSpec.js';
