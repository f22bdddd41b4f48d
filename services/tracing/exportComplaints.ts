import type { DiagLogger } from '@opentelemetry/api';

export type Complain = (message: string, details: Readonly<Record<string, unknown>>) => void;

const INTERVAL_MS = 30_000;

/** What the SDK complains about, at most once an interval: a receiver that is down fails every few seconds. */
export class ExportComplaints implements DiagLogger {
  private toldMs = -Infinity;
  private held = 0;

  constructor(
    private readonly complain: Complain,
    private readonly nowMs: () => number,
  ) {}

  error(message: string, ...details: unknown[]): void {
    const nowMs = this.nowMs();
    if (nowMs - this.toldMs < INTERVAL_MS) {
      this.held += 1;
      return;
    }
    this.toldMs = nowMs;
    const text = [message, ...details.map((detail) => reasonOf(detail))].join(' ');
    this.complain('OpenTelemetry', { reason: text, ...(this.held === 0 ? {} : { held: this.held }) });
    this.held = 0;
  }

  warn(message: string, ...details: unknown[]): void {
    this.error(message, ...details);
  }

  info(): void {}
  debug(): void {}
  verbose(): void {}
}

/** The SDK hands errors over as JSON text of their own properties and their stack. */
function reasonOf(detail: unknown): string {
  if (detail instanceof Error) return detail.message;
  return typeof detail === 'string' ? detail : JSON.stringify(detail);
}
