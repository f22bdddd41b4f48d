import { average, matching, mean, rate, sum, value } from '../../../services/metrics/index.js';
import { line, RANGE, variable, type Board } from './board.js';

const CARD = { Hostname: matching('$Hostname'), gpu: matching('$gpu') };
const GPU = { gpu: matching('$gpu') };
const VERSION = ['model', 'version'] as const;

/** Each server counts its GPUs and nodes from 0. */
const ofGpu = ({ instance, gpu }: { readonly instance: string; readonly gpu: string }): string =>
  `${instance} GPU ${gpu}`;
const ofNode = ({ instance, node }: { readonly instance: string; readonly node: string }): string =>
  `${instance} ${node}`;

export const GPUS: Board = {
  name: 'gpus',
  title: 'Windjammer GPUs',
  description: 'Simulated GPUs and the models that run on them',
  variables: [variable('Hostname', 'DCGM_FI_DEV_FB_FREE'), variable('gpu', 'DCGM_FI_DEV_FB_FREE')],
  rows: [
    {
      title: 'GPUs, in simulated time',
      panels: [
        {
          title: 'Dilation',
          description:
            'Host time a GPU node takes for its simulated time. Above 1.2 the host is the bottleneck: shares and rates below are of simulated time and say nothing about how busy a real GPU would be',
          unit: 'none',
          limit: 1.2,
          lines: [line(value('windjammer_gpu_node_dilation'), ofNode)],
        },
        {
          title: 'SMs with a block',
          unit: 'percentunit',
          lines: [line(value('DCGM_FI_PROF_SM_ACTIVE', CARD), ofGpu)],
        },
        {
          title: 'Occupancy',
          unit: 'percentunit',
          lines: [line(value('DCGM_FI_PROF_SM_OCCUPANCY', CARD), ofGpu)],
        },
        {
          title: 'Pipes',
          unit: 'percentunit',
          lines: [
            line(value('DCGM_FI_PROF_PIPE_FP32_ACTIVE', CARD), (labels) => `${ofGpu(labels)} fp32`),
            line(value('DCGM_FI_PROF_PIPE_FP64_ACTIVE', CARD), (labels) => `${ofGpu(labels)} fp64`),
          ],
        },
        {
          title: 'Memory bandwidth',
          unit: 'percentunit',
          lines: [line(value('DCGM_FI_PROF_DRAM_ACTIVE', CARD), ofGpu)],
        },
        {
          title: 'PCIe',
          unit: 'Bps',
          lines: [
            line(value('DCGM_FI_PROF_PCIE_RX_BYTES', CARD), (labels) => `${ofGpu(labels)} in`),
            line(value('DCGM_FI_PROF_PCIE_TX_BYTES', CARD), (labels) => `${ofGpu(labels)} out`),
          ],
        },
        {
          title: 'Memory used',
          unit: 'mbytes',
          lines: [line(value('DCGM_FI_DEV_FB_USED', CARD), ofGpu)],
        },
        {
          title: 'Power',
          unit: 'watt',
          lines: [line(value('DCGM_FI_DEV_POWER_USAGE', CARD), ofGpu)],
        },
        {
          title: 'SM clock',
          unit: 'hertz',
          lines: [line(value('DCGM_FI_DEV_SM_CLOCK', CARD).times(1e6), ofGpu)],
        },
      ],
    },
    {
      title: 'Replicas on GPUs',
      panels: [
        {
          title: 'Replicas that hold memory',
          unit: 'none',
          lines: [line(value('windjammer_gpu_replicas', GPU), ofGpu)],
        },
        {
          title: 'Memory that they hold, and what is left',
          unit: 'bytes',
          lines: [
            line(value('windjammer_gpu_reserved_bytes', GPU), (labels) => `${ofGpu(labels)} held`),
            line(value('windjammer_gpu_free_bytes', GPU), (labels) => `${ofGpu(labels)} left`),
          ],
        },
        {
          title: 'Batches that wait for an answer',
          unit: 'none',
          lines: [line(value('windjammer_gpu_waiting_batches', GPU), ofGpu)],
        },
      ],
    },
    {
      title: 'Scheduling on GPUs, in simulated time',
      panels: [
        {
          title: 'Launches preempted',
          unit: 'ops',
          lines: [
            line(
              rate('windjammer_gpu_launches_killed_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} killed`,
            ),
            line(
              rate('windjammer_gpu_launches_saved_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} saved`,
            ),
            line(
              rate('windjammer_gpu_launches_drained_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} drained`,
            ),
          ],
        },
        {
          title: 'Wait of critical launches',
          unit: 's',
          lines: [
            line(
              rate('windjammer_gpu_critical_wait_seconds_total', RANGE, GPU).over(
                rate('windjammer_gpu_critical_launches_total', RANGE, GPU),
              ),
              ofGpu,
            ),
          ],
        },
        {
          title: 'Work done in vain',
          description: 'Time of blocks whose launches were killed',
          unit: 'none',
          lines: [line(rate('windjammer_gpu_wasted_block_seconds_total', RANGE, GPU), ofGpu)],
        },
        {
          title: 'Verdicts',
          unit: 'ops',
          lines: [
            line(
              sum(['verdict', 'cause'], rate('windjammer_gpu_verdicts_total', RANGE)),
              ({ verdict, cause }) => `${verdict} ${cause}`,
            ),
          ],
        },
        {
          title: 'Latency of verdicts',
          unit: 's',
          lines: [line(mean(['instance', 'node'], 'windjammer_gpu_verdict_latency_seconds', RANGE), ofNode)],
        },
        {
          title: 'Kernels that wait to be analysed',
          unit: 'none',
          lines: [line(value('windjammer_gpu_kernels_waiting'), ofNode)],
        },
      ],
    },
    {
      title: 'Faults of GPUs, in simulated time',
      panels: [
        {
          title: 'Faults',
          unit: 'ops',
          lines: [
            line(
              rate('windjammer_gpu_faults_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} ${labels.outcome}`,
            ),
            line(
              rate('windjammer_gpu_unprotected_launches_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} unprotected launches`,
            ),
          ],
        },
        {
          title: 'Memory saved before launches',
          unit: 'Bps',
          lines: [line(rate('windjammer_gpu_saved_bytes_total', RANGE, GPU), ofGpu)],
        },
        {
          title: 'Saving and recovering',
          unit: 'percentunit',
          lines: [
            line(
              rate('windjammer_gpu_saving_seconds_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} saving`,
            ),
            line(
              rate('windjammer_gpu_recovery_seconds_total', RANGE, GPU),
              (labels) => `${ofGpu(labels)} recovering`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Models, in host time',
      panels: [
        {
          title: 'Inputs that wait',
          unit: 'none',
          lines: [
            line(
              sum(VERSION, value('windjammer_queue_depth')),
              ({ model, version }) => `${model} ${version}`,
            ),
          ],
        },
        {
          title: 'Busy replicas',
          unit: 'percentunit',
          lines: [
            line(
              average(VERSION, rate('windjammer_replica_busy_seconds_total', RANGE)),
              ({ model, version }) => `${model} ${version}`,
            ),
          ],
        },
        {
          title: 'Inputs in a batch',
          unit: 'none',
          lines: [
            line(
              mean(VERSION, 'windjammer_batch_size', RANGE),
              ({ model, version }) => `${model} ${version}`,
            ),
          ],
        },
      ],
    },
  ],
};
