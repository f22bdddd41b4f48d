/** The trace of what failed, for the details of a log line; nothing where there is none. */
export function traceDetail(traceparent: string | undefined): { readonly traceId?: string } {
  return traceparent === undefined ? {} : { traceId: traceparent.slice(3, 35) };
}
