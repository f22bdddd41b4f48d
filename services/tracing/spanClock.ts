/**
 * The time of spans: of the wall, as finely as the process measures. The SDK's own start times are whole milliseconds,
 * which would let a child begin before its parent.
 */
export class SpanClock {
  private offsetMs = performance.timeOrigin;

  /** Milliseconds since 1970. */
  nowMs(): number {
    const sinceStartMs = performance.now();
    const wallMs = Date.now();
    // The wall is set now and then, and a suspended machine's monotonic clock stands.
    if (Math.abs(this.offsetMs + sinceStartMs - wallMs) > MOST_APART_MS)
      this.offsetMs = wallMs - sinceStartMs;
    return this.offsetMs + sinceStartMs;
  }
}

const MOST_APART_MS = 100;
