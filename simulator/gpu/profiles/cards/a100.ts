import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const sheet = cite('sheet');
const reported = cite('reported');
const accelSim = cite('accelSim');
const ampere = cite('ampere');
const assumed = cite('assumed');

export const a100: DerivedCard = {
  name: 'a100',
  productName: 'NVIDIA A100-SXM4-80GB',
  description: 'NVIDIA A100 SXM4, 80 GB HBM2e (Ampere, compute capability 8.0)',
  measured: false,
  base: 'h200',
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C++ Programming Guide, technical specifications and instruction throughput of compute capability 8.0',
      url: 'https://docs.nvidia.com/cuda/cuda-c-programming-guide/',
    },
    sheet: {
      kind: 'document',
      text: 'NVIDIA A100 data sheet and Ampere architecture white paper',
      url: 'https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf',
    },
    reported: {
      kind: 'document',
      text: 'what public reports of nvidia-smi and of device queries show of the card',
    },
    accelSim: {
      kind: 'document',
      text: 'configuration SM80_A100 of Accel-Sim',
      url: 'https://github.com/accel-sim/gpgpu-sim_distribution',
    },
    ampere: {
      kind: 'document',
      text: 'Abdelkhalik et al., Demystifying the Nvidia Ampere Architecture through Microbenchmarking, 2022',
      url: 'https://arxiv.org/abs/2208.11174',
    },
    pcie: { kind: 'derived', text: "half of the H200's measured rate: PCIe 4.0 x16 for 5.0 x16" },
    assumed: { kind: 'assumed', text: 'no public figure' },
  },
  sms: sheet(108),
  gpcTpcs: assumed([7, 7, 7, 7, 7, 7, 6, 6], '54 TPCs are from the white paper; which GPC has fewer is open'),
  clockHz: sheet(1.41e9),
  clocks: {
    baseHz: reported(1.275e9),
    minimumHz: reported(210e6),
    memoryHz: reported(1.593e9),
    memoryMinimumHz: reported(1.593e9),
  },
  limits: {
    portableClusterBlocks: guide(1, 'clusters came with compute capability 9.0'),
    clusterBlocks: guide(1),
    sharedPerSmBytes: guide(164 * KIB),
    sharedConfigurationsBytes: guide([0, 8, 16, 32, 64, 100, 132, 164].map((kib) => kib * KIB)),
    sharedPerBlockBytes: guide(163 * KIB),
  },
  memory: {
    declaredBytes: reported(81920 * MIB),
    declaredBytesPerSecond: sheet(2.039e12),
    l2Bytes: sheet(40 * MIB),
    l1Bytes: sheet(192 * KIB, 'with shared memory'),
  },
  timing: {
    integerPerCycle: guide(2, '64 results a cycle'),
    float32PerCycle: guide(2, '64 results a cycle; 19.5 TFLOP/s rated'),
    float64PerCycle: guide(1, '32 results a cycle; 9.7 TFLOP/s rated'),
    specialPerCycle: guide(0.5, '16 results a cycle'),
    tensorPerCycle: guide(3.07, '1024 multiply-adds of f16 a cycle, 1336 of an H200 by mma'),
    latency: {
      alu: accelSim(4),
      float64: accelSim(6),
      special: accelSim(23),
      shared: ampere(23),
      l1: ampere(33),
      l2: ampere(200),
    },
  },
  copies: { hostLinkBytesPerSecond: cite('pcie')(27.7e9) },
  power: {
    processNanometres: sheet(7),
    limitWatts: sheet(400),
  },
};
