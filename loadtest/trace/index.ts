export { LoadError } from './loadError.js';
export type { Arrival, Trace } from './trace.js';
export { endsByItself, openTrace, TRACE_FORMS, type TraceRequest } from './traceSpec.js';
export { TIME_UNITS } from './timestamp.js';
export { TRACE_FORMATS } from './traceFormat.js';
