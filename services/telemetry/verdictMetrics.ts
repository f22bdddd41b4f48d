import {
  VERDICT_LATENCY_BOUNDS_NS,
  type AnalysisReport,
  type NodeReport,
  type VerdictReport,
} from '../../containers/runtime/index.js';
import { HistogramTally } from './histogramTally.js';
import { VERDICT_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, type MetricFamily, type ValueWriter } from './metricFamily.js';

const CLASSES = ['idempotent', 'conditional', 'nonIdempotent'] as const;

/** What nodes find of launches, whether they may be killed and run again; nothing of nodes that never ask. */
export function verdictFamilies(nodes: () => readonly NodeReport[]): readonly MetricFamily[] {
  function* each(): IterableIterator<readonly [node: string, report: VerdictReport]> {
    for (const { node, verdicts } of nodes()) if (verdicts !== undefined) yield [node, verdicts];
  }
  const ofAnalysis = (read: (analysis: AnalysisReport) => number) => (to: ValueWriter<'node'>) => {
    for (const [node, { analysis }] of each())
      if (analysis !== undefined) to.value(labelText({ node }), read(analysis));
  };
  return familiesOf(VERDICT_METRICS, {
    windjammer_gpu_verdicts_total: (to) => {
      for (const [node, { idempotent, pending, refused }] of each()) {
        const count = (verdict: string, cause: string, value: number): void =>
          to.value(labelText({ node, verdict, cause }), value);
        count('idempotent', '', idempotent);
        count('pending', '', pending);
        for (const [cause, value] of Object.entries(refused)) count('refused', cause, value);
      }
    },
    windjammer_gpu_verdict_latency_seconds: (to) => {
      for (const [node, { latency }] of each()) to.histogram(labelText({ node }), tallyOf(latency));
    },
    windjammer_gpu_kernels_analysed: (to) => {
      for (const [node, { kernels }] of each()) {
        for (const kind of CLASSES) to.value(labelText({ node, class: kind }), kernels[kind]);
      }
    },
    windjammer_gpu_kernels_waiting: ofAnalysis(({ waiting }) => waiting),
    windjammer_gpu_analyses_total: (to) => {
      for (const [node, { analysis }] of each()) {
        if (analysis === undefined) continue;
        const { analysed, remembered, failed } = analysis;
        for (const [outcome, count] of Object.entries({ analysed, remembered, failed })) {
          to.value(labelText({ node, outcome }), count);
        }
      }
    },
    windjammer_gpu_kernels_improved_total: ofAnalysis(({ improved }) => improved),
    windjammer_gpu_analysis_seconds_total: ofAnalysis(({ hostSeconds }) => hostSeconds),
    windjammer_gpu_analysis_longest_seconds: ofAnalysis(({ mostHostSeconds }) => mostHostSeconds),
  });
}

const BOUNDS_SECONDS = VERDICT_LATENCY_BOUNDS_NS.map((ns) => ns / 1e9);

function tallyOf({ counts, totalNs }: VerdictReport['latency']): HistogramTally {
  const tally = new HistogramTally(BOUNDS_SECONDS);
  tally.counts.set(counts);
  tally.sum = totalNs / 1e9;
  return tally;
}
