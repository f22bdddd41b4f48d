import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const MIB = 1024 * 1024;

const sheet = cite('sheet');
const reported = cite('reported');

/** The H200's SMs with less memory behind them. */
export const h100: DerivedCard = {
  name: 'h100',
  productName: 'NVIDIA H100 80GB HBM3',
  description: 'NVIDIA H100 SXM5, 80 GB HBM3 (Hopper, compute capability 9.0)',
  measured: false,
  base: 'h200',
  sources: {
    sheet: {
      kind: 'document',
      text: 'NVIDIA H100 Tensor Core GPU data sheet and architecture white paper',
      url: 'https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet',
    },
    reported: {
      kind: 'document',
      text: 'what public reports of nvidia-smi and of device queries show of the card',
    },
  },
  sms: sheet(132),
  clockHz: reported(1.98e9, '66.9 TFLOP/s of fp32 are rated: 132 SMs x 128 lanes x 2 at this clock'),
  clocks: {
    memoryHz: reported(2.619e9),
    memoryMinimumHz: reported(2.619e9),
  },
  memory: {
    declaredBytes: reported(81559 * MIB),
    declaredBytesPerSecond: sheet(3.35e12),
    l2Bytes: sheet(50 * MIB),
  },
  power: {
    processNanometres: sheet(4, 'TSMC 4N'),
    limitWatts: sheet(700),
  },
};
