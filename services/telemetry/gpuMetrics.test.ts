import { describe, expect, it } from 'vitest';
import type { NodeReport } from '../../containers/runtime/index.js';
import { emptyRoom, gpuSample } from '../../containers/runtime/tests/gpuSamples.js';
import { gpuFamilies } from './gpuMetrics.js';
import { familyText } from './textFormat.js';

function report(node: string): NodeReport {
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
    spans: [{ latest: gpuSample(3e9), earlier: gpuSample(2e9) }],
  };
}

/** Values by metric, of the GPU of this number. */
function scrape(nodes: readonly NodeReport[], gpu: string): ReadonlyMap<string, number> {
  const text = gpuFamilies(() => nodes, 'host')
    .map((family) => familyText(family, 'prometheus'))
    .join('');
  const values = new Map<string, number>();
  for (const [, name, labels, value] of text.matchAll(/^(DCGM_\w+)\{(.*)\} (\S+)$/gm)) {
    if (labels.startsWith(`gpu="${gpu}",UUID="GPU-`)) values.set(name, Number(value));
  }
  return values;
}

describe('metrics of GPUs', () => {
  it('have the units of DCGM', () => {
    const values = scrape([report('node0')], '0');
    const about = (name: string, value: number): void => expect(values.get(name)).toBeCloseTo(value);
    about('DCGM_FI_DEV_SM_CLOCK', 1980);
    about('DCGM_FI_DEV_MEM_CLOCK', 6251);
    about('DCGM_FI_DEV_POWER_USAGE', 250);
    about('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 750_000);
    about('DCGM_FI_DEV_GPU_UTIL', 75);
    about('DCGM_FI_DEV_MEM_COPY_UTIL', 50);
    about('DCGM_FI_DEV_FB_USED', 1000 / 2 ** 20);
    about('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 0.75);
    about('DCGM_FI_PROF_SM_ACTIVE', 0.5);
    about('DCGM_FI_PROF_SM_OCCUPANCY', 0.125);
    about('DCGM_FI_PROF_PIPE_FP32_ACTIVE', 0.25);
    about('DCGM_FI_PROF_PIPE_FP64_ACTIVE', 0.125);
    about('DCGM_FI_PROF_DRAM_ACTIVE', 0.5);
    about('DCGM_FI_PROF_PCIE_RX_BYTES', 2e9);
    about('DCGM_FI_PROF_PCIE_TX_BYTES', 1e9);
  });

  it('tell faults where any strike, and nothing of them elsewhere', () => {
    const faults = {
      injected: 6,
      reexecuted: 3,
      restored: 2,
      unrecovered: 1,
      savedLaunches: 9,
      savedBytes: 4096,
      saveNs: 2e9,
      recoveryNs: 5e8,
      unprotected: 4,
    };
    const struck = {
      ...report('node1'),
      spans: [{ latest: gpuSample(3e9, { faults }), earlier: undefined }],
    };
    const lines = gpuFamilies(() => [report('node0'), struck], 'host')
      .map((family) => familyText(family, 'prometheus'))
      .join('')
      .split('\n')
      .filter((line) => /^windjammer_gpu_(faults|saved|saving|recovery|unprotected)/.test(line));
    expect(lines).toEqual([
      'windjammer_gpu_faults_total{gpu="1",node="node1",outcome="reexecuted"} 3',
      'windjammer_gpu_faults_total{gpu="1",node="node1",outcome="restored"} 2',
      'windjammer_gpu_faults_total{gpu="1",node="node1",outcome="unrecovered"} 1',
      'windjammer_gpu_saved_launches_total{gpu="1",node="node1"} 9',
      'windjammer_gpu_saved_bytes_total{gpu="1",node="node1"} 4096',
      'windjammer_gpu_saving_seconds_total{gpu="1",node="node1"} 2',
      'windjammer_gpu_recovery_seconds_total{gpu="1",node="node1"} 0.5',
      'windjammer_gpu_unprotected_launches_total{gpu="1",node="node1"} 4',
    ]);
  });

  it('keep the number of a GPU among those of all nodes, also while another node has no samples', () => {
    const nodes = [report('node0'), { ...report('node1'), spans: [] }, report('node2')];
    expect(scrape(nodes, '0').size).toBe(16);
    expect(scrape(nodes, '1').size).toBe(0);
    expect(scrape(nodes, '2').size).toBe(16);
    const text = gpuFamilies(() => nodes, 'host')
      .map((family) => familyText(family, 'prometheus'))
      .join('');
    expect(text).toMatch(/device="nvidia2",modelName="NVIDIA H200",Hostname="host",node="node2"\}/);
    // What is placed there is known all the same.
    expect(text).toContain('windjammer_gpu_replicas{gpu="1",node="node1"} 0\n');
    expect(text).toContain('windjammer_gpu_free_bytes{gpu="2",node="node2"} 150');
  });
});
