import type { Recorded, Vector } from '../../../services/metrics/index.js';

/** page: somebody gets up for it. ticket: somebody looks at it in working hours. */
export type Severity = 'page' | 'ticket';

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  readonly promql: string;
  /** It fires when it has held for so long. */
  readonly forSeconds: number;
  /** What is told; Prometheus puts labels and value in. */
  readonly summary: string;
}

export interface RecordingRule {
  readonly name: string;
  readonly promql: string;
}

type Texts<L extends string> = Readonly<Record<L, string>>;

interface AlertText<L extends string> {
  readonly severity: Severity;
  readonly when: Vector<L>;
  readonly forSeconds: number;
  readonly summary: (labels: Texts<L>) => string;
}

/** The value of an alert, as a share. */
export const PERCENTAGE = '{{ $value | humanizePercentage }}';
/** The value of an alert, as a time. */
export const TIME = '{{ $value | humanizeDuration }}';
/** The value of an alert, as a number. */
export const NUMBER = '{{ $value | humanize }}';

/** @param text its summary can name the labels that its query leaves, and no others */
export function alert<L extends string>(name: string, text: AlertText<L>): Alert {
  const { severity, when, forSeconds, summary } = text;
  const labels = new Proxy({}, { get: (_, label) => `{{ $labels.${String(label)} }}` });
  return { name, severity, promql: when.text, forSeconds, summary: summary(labels as Texts<L>) };
}

export function recording<L extends string>({ name, of }: Recorded<L>): RecordingRule {
  return { name, promql: of.text };
}
