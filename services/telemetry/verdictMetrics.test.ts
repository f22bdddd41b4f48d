import { describe, expect, it } from 'vitest';
import { emptyRoom } from '../../containers/runtime/tests/gpuSamples.js';
import type { NodeReport, VerdictReport } from '../../containers/runtime/index.js';
import { familyText } from './textFormat.js';
import { verdictFamilies } from './verdictMetrics.js';

const verdicts: VerdictReport = {
  idempotent: 7,
  pending: 2,
  refused: { SO: 3, NA: 1 },
  kernels: { idempotent: 1, nonIdempotent: 0, conditional: 4 },
  latency: { count: 4, totalNs: 2_000, mostNs: 1_200, counts: [1, 2, 0, 0, 1, 0, 0, 0, 0, 0] },
  analysis: {
    waiting: 1,
    analysed: 3,
    remembered: 2,
    failed: 0,
    improved: 1,
    unasked: 0,
    broken: 0,
    hostSeconds: 0.5,
    mostHostSeconds: 0.25,
  },
};

function report(node: string, of?: VerdictReport): NodeReport {
  return {
    node,
    replicas: 0,
    busyHostSeconds: 0,
    busySimulatedSeconds: 0,
    dilation: undefined,
    room: emptyRoom(node),
    hostBusyShare: undefined,
    clockLagSeconds: 0,
    gpus: [],
    spans: [],
    ...(of === undefined ? {} : { verdicts: of }),
  };
}

const scrape = (...nodes: NodeReport[]): string[] =>
  verdictFamilies(() => nodes)
    .map((family) => familyText(family, 'prometheus'))
    .join('')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

describe('metrics of verdicts', () => {
  it('tell verdicts by cause, what they took, and what is analysed and waits', () => {
    const lines = scrape(report('node0', verdicts));
    expect(lines).toEqual(
      expect.arrayContaining([
        'windjammer_gpu_verdicts_total{node="node0",verdict="idempotent",cause=""} 7',
        'windjammer_gpu_verdicts_total{node="node0",verdict="pending",cause=""} 2',
        'windjammer_gpu_verdicts_total{node="node0",verdict="refused",cause="SO"} 3',
        'windjammer_gpu_verdicts_total{node="node0",verdict="refused",cause="NA"} 1',
        'windjammer_gpu_verdict_latency_seconds_bucket{node="node0",le="2.5e-7"} 3',
        'windjammer_gpu_verdict_latency_seconds_bucket{node="node0",le="+Inf"} 4',
        'windjammer_gpu_verdict_latency_seconds_count{node="node0"} 4',
        'windjammer_gpu_verdict_latency_seconds_sum{node="node0"} 0.000002',
        'windjammer_gpu_kernels_analysed{node="node0",class="conditional"} 4',
        'windjammer_gpu_kernels_waiting{node="node0"} 1',
        'windjammer_gpu_analyses_total{node="node0",outcome="analysed"} 3',
        'windjammer_gpu_analyses_total{node="node0",outcome="remembered"} 2',
        'windjammer_gpu_analysis_seconds_total{node="node0"} 0.5',
        'windjammer_gpu_analysis_longest_seconds{node="node0"} 0.25',
      ]),
    );
  });

  it('are none of nodes that never ask, and none of analysis where that is not in the background', () => {
    expect(scrape(report('node0'))).toEqual([]);
    const { idempotent, pending, refused, kernels, latency } = verdicts;
    const offline = { idempotent, pending, refused, kernels, latency };
    expect(scrape(report('node0', offline)).filter((line) => line.includes('analysis'))).toEqual([]);
  });
});
