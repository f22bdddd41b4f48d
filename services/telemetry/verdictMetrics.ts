import {
  VERDICT_LATENCY_BOUNDS_NS,
  type AnalysisReport,
  type NodeReport,
  type VerdictReport,
} from '../../containers/runtime/index.js';
import { HistogramTally } from './histogramTally.js';
import { labelText, type MetricFamily, type MetricType, type SampleWriter } from './metricFamily.js';

const CLASSES = ['idempotent', 'conditional', 'nonIdempotent'] as const;

/** What nodes find of launches, whether they may be killed and run again; nothing of nodes that never ask. */
export function verdictFamilies(nodes: () => readonly NodeReport[]): readonly MetricFamily[] {
  const each = (write: (to: SampleWriter, node: string, report: VerdictReport) => void) => {
    return (to: SampleWriter): void => {
      for (const { node, verdicts } of nodes()) if (verdicts !== undefined) write(to, node, verdicts);
    };
  };
  const ofAnalysis = (
    name: string,
    type: MetricType,
    unit: MetricFamily['unit'],
    help: string,
    read: (analysis: AnalysisReport) => number,
  ): MetricFamily => {
    const write = each((to, node, { analysis }) => {
      if (analysis !== undefined) to.value(labelText({ node }), read(analysis));
    });
    return { name, type, unit, labels: ['node'], help, write };
  };
  return [
    {
      name: 'windjammer_gpu_verdicts_total',
      type: 'counter',
      unit: '',
      labels: ['node', 'verdict', 'cause'],
      help: 'Launches judged before they run: idempotent (may be killed and run again), refused by cause, pending (the kernel is not analysed yet)',
      write: each((to, node, { idempotent, pending, refused }) => {
        const count = (verdict: string, cause: string, value: number): void =>
          to.value(labelText({ node, verdict, cause }), value);
        count('idempotent', '', idempotent);
        count('pending', '', pending);
        for (const [cause, value] of Object.entries(refused)) count('refused', cause, value);
      }),
    },
    {
      name: 'windjammer_gpu_verdict_latency_seconds',
      type: 'histogram',
      unit: 'seconds',
      labels: ['node'],
      help: "What a verdict takes the host; simulated time is charged the model's constants instead",
      write: each((to, node, { latency }) => to.histogram(labelText({ node }), tallyOf(latency))),
    },
    {
      name: 'windjammer_gpu_kernels_analysed',
      type: 'gauge',
      unit: '',
      labels: ['node', 'class'],
      help: 'Kernels analysed, by class: all launches idempotent, none shown to be, or as arguments decide',
      write: each((to, node, { kernels }) => {
        for (const kind of CLASSES) to.value(labelText({ node, class: kind }), kernels[kind]);
      }),
    },
    ofAnalysis(
      'windjammer_gpu_kernels_waiting',
      'gauge',
      '',
      'Kernels that wait to be analysed; their launches count as not idempotent meanwhile',
      ({ waiting }) => waiting,
    ),
    {
      name: 'windjammer_gpu_analyses_total',
      type: 'counter',
      unit: '',
      labels: ['node', 'outcome'],
      help: 'Kernels that were to be analysed in the background: analysed, remembered (from before, or from disk), failed (the kernel stays unknown)',
      write: each((to, node, { analysis }) => {
        if (analysis === undefined) return;
        const { analysed, remembered, failed } = analysis;
        for (const [outcome, count] of Object.entries({ analysed, remembered, failed })) {
          to.value(labelText({ node, outcome }), count);
        }
      }),
    },
    ofAnalysis(
      'windjammer_gpu_kernels_improved_total',
      'counter',
      '',
      'Kernels of which z3 has found more than their analysis alone',
      ({ improved }) => improved,
    ),
    ofAnalysis(
      'windjammer_gpu_analysis_seconds_total',
      'counter',
      'seconds',
      'Host time that background analysis has taken, z3 included, in threads of its own',
      ({ hostSeconds }) => hostSeconds,
    ),
    ofAnalysis(
      'windjammer_gpu_analysis_longest_seconds',
      'gauge',
      'seconds',
      'Host time of the kernel that took longest',
      ({ mostHostSeconds }) => mostHostSeconds,
    ),
  ];
}

const BOUNDS_SECONDS = VERDICT_LATENCY_BOUNDS_NS.map((ns) => ns / 1e9);

function tallyOf({ counts, totalNs }: VerdictReport['latency']): HistogramTally {
  const tally = new HistogramTally(BOUNDS_SECONDS);
  tally.counts.set(counts);
  tally.sum = totalNs / 1e9;
  return tally;
}
