import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const sheet = cite('sheet');
const reported = cite('reported');
const jia = cite('jia');
const assumed = cite('assumed');

/** Its power limit is far below what its SMs can take: under arithmetic load it runs well below its boost clock. */
export const t4: DerivedCard = {
  name: 't4',
  productName: 'Tesla T4',
  description: 'NVIDIA T4, 16 GB GDDR6 (Turing, compute capability 7.5)',
  measured: false,
  base: 'v100',
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C++ Programming Guide, technical specifications and instruction throughput of compute capability 7.5',
      url: 'https://docs.nvidia.com/cuda/cuda-c-programming-guide/',
    },
    sheet: {
      kind: 'document',
      text: 'NVIDIA T4 data sheet and Turing architecture white paper',
      url: 'https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf',
    },
    reported: {
      kind: 'document',
      text: 'what public reports of nvidia-smi and of device queries show of the card',
    },
    jia: {
      kind: 'document',
      text: 'Jia et al., Dissecting the NVidia Turing T4 GPU via Microbenchmarking, 2019',
      url: 'https://arxiv.org/abs/1903.07486',
    },
    gddr6: {
      kind: 'derived',
      text: "twice the base card's: GDDR6 at about 7.5 pJ a bit for HBM2's 3.9",
    },
    assumed: { kind: 'assumed', text: 'no public figure' },
  },
  sms: sheet(40),
  gpcTpcs: assumed(
    [4, 4, 3, 3, 3, 3],
    '20 TPCs in up to 6 GPCs are from the white paper; their places are open',
  ),
  clockHz: sheet(1.59e9),
  clocks: {
    baseHz: sheet(585e6),
    minimumHz: reported(300e6),
    stepHz: reported(15e6),
    memoryHz: reported(5.001e9),
    memoryMinimumHz: reported(405e6),
  },
  limits: {
    uniformRegistersPerWarp: guide(63),
    threadsPerSm: guide(1024),
    warpsPerSm: guide(32),
    blocksPerSm: guide(16),
    sharedPerSmBytes: guide(64 * KIB),
    sharedConfigurationsBytes: guide([32 * KIB, 64 * KIB]),
    sharedPerBlockBytes: guide(64 * KIB),
  },
  memory: {
    declaredBytes: reported(15360 * MIB),
    declaredBytesPerSecond: sheet(320e9),
    l2Bytes: sheet(4 * MIB),
    l1Bytes: sheet(96 * KIB, 'with shared memory'),
  },
  timing: {
    float32PerCycle: guide(2, '64 results a cycle; 8.1 TFLOP/s rated'),
    float64PerCycle: guide(0.0625, '2 results a cycle'),
    latency: {
      shared: jia(19),
      l1: jia(32),
      l2: jia(188),
    },
  },
  power: {
    processNanometres: sheet(12),
    limitWatts: sheet(70),
    picojoules: { dramBytes: cite('gddr6')(156) },
  },
};
