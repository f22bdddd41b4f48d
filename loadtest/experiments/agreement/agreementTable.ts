import type { RunResult } from '../../result/index.js';
import type { ComparedOutputs } from './answers.js';
import type { TraceKind } from './traces.js';

export interface AgreementRow {
  readonly model: string;
  readonly kind: TraceKind;
  /** Queries a second. */
  readonly rate: number;
  readonly live: RunResult;
  readonly virtual: RunResult;
  readonly outputs: ComparedOutputs;
}

const LATENCY_SHARE = 0.2;
const BATCH_SHARE = 0.15;

const HEADS = [
  'model',
  'trace',
  'queries/s',
  'p50 live / replay (ms)',
  'p99 live / replay (ms)',
  'mean batch live / replay',
  'outputs',
  'sent late, p99 (ms)',
  'agrees',
];

/** As Markdown. */
export function agreementTable(rows: readonly AgreementRow[]): string {
  const lines = [HEADS, HEADS.map(() => '---'), ...rows.map(cells)];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

function cells({ model, kind, rate, live, virtual, outputs }: AgreementRow): string[] {
  const p50 = [live.latency?.p50Ms, virtual.latency?.p50Ms];
  const p99 = [live.latency?.p99Ms, virtual.latency?.p99Ms];
  const batch = [batchOf(live, model), batchOf(virtual, model)];
  const misses = [
    ...(isNear(p50, LATENCY_SHARE) ? [] : ['p50']),
    ...(isNear(p99, LATENCY_SHARE) ? [] : ['p99']),
    ...(isNear(batch, BATCH_SHARE) ? [] : ['batch']),
    ...(outputs.different === 0 && outputs.both > 0 ? [] : ['outputs']),
    ...(live.endedEarly === null ? [] : [`not measured: ${live.endedEarly}`]),
  ];
  return [
    model,
    kind,
    String(rate),
    pair(p50),
    pair(p99),
    pair(batch),
    `${outputs.both - outputs.different} of ${outputs.both} the same`,
    (live.load?.lateness?.p99Ms ?? 0).toFixed(2),
    misses.length === 0 ? 'yes' : `no: ${misses.join(', ')}`,
  ];
}

function batchOf({ models }: RunResult, name: string): number | undefined {
  return models.find((model) => model.name === name)?.meanBatchSize ?? undefined;
}

function pair([live, virtual]: readonly (number | undefined)[]): string {
  return `${text(live)} / ${text(virtual)}`;
}

function text(value: number | undefined): string {
  return value === undefined ? '-' : value.toFixed(2);
}

function isNear([live, virtual]: readonly (number | undefined)[], share: number): boolean {
  return live !== undefined && virtual !== undefined && Math.abs(virtual - live) <= share * live;
}
