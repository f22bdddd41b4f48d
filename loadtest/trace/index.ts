export { LoadError } from './loadError.js';
export type { Arrival, Trace } from './trace.js';
export { DEFAULT_SECONDS, endsByItself, openTrace, type TraceRequest } from './traceSpec.js';
export {
  addQueryOptions,
  addTraceOptions,
  numberAbove,
  numberWithin,
  traceChoices,
  type QueryOptions,
  type TraceOptions,
} from './traceOptions.js';
