export { LoadError } from './loadError.js';
export type { Arrival, Trace } from './trace.js';
export { DEFAULT_SECONDS, endsByItself, openTrace, type TraceRequest } from './traceSpec.js';
export {
  addTraceOptions,
  numberAbove,
  numberWithin,
  traceChoices,
  type TraceOptions,
} from './traceOptions.js';
