import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const sheet = cite('sheet');
const reported = cite('reported');
const jia = cite('jia');
const assumed = cite('assumed');

export const v100: DerivedCard = {
  name: 'v100',
  productName: 'Tesla V100-SXM2-16GB',
  description: 'NVIDIA V100 SXM2, 16 GB HBM2 (Volta, compute capability 7.0)',
  measured: false,
  base: 'h200',
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C++ Programming Guide, technical specifications and instruction throughput of compute capability 7.0',
      url: 'https://docs.nvidia.com/cuda/cuda-c-programming-guide/',
    },
    sheet: {
      kind: 'document',
      text: 'NVIDIA Tesla V100 GPU architecture white paper, 2017',
      url: 'https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf',
    },
    reported: {
      kind: 'document',
      text: 'what public reports of nvidia-smi and of device queries show of the card',
    },
    jia: {
      kind: 'document',
      text: 'Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018',
      url: 'https://arxiv.org/abs/1804.06826',
    },
    picker: {
      kind: 'document',
      text: 'Han et al., PICKER, EuroSys 2026, section on preemptive scheduling: context switches of 4 to 98 us on a GV100',
    },
    accelSim: {
      kind: 'document',
      text: 'configuration SM7_QV100 of Accel-Sim',
      url: 'https://github.com/accel-sim/gpgpu-sim_distribution',
    },
    pcie: { kind: 'derived', text: "a quarter of the H200's measured rate: PCIe 3.0 x16 for 5.0 x16" },
    assumed: { kind: 'assumed', text: 'no public figure' },
  },
  sms: sheet(80),
  gpcTpcs: assumed(
    [7, 7, 7, 7, 6, 6],
    '40 TPCs in 6 GPCs are from the white paper; which GPC has fewer is open',
  ),
  clockHz: sheet(1.53e9),
  clocks: {
    baseHz: reported(1.29e9),
    minimumHz: reported(135e6),
    stepHz: reported(7.5e6),
    memoryHz: reported(877e6),
    memoryMinimumHz: reported(877e6),
  },
  limits: {
    portableClusterBlocks: guide(1, 'clusters came with compute capability 9.0'),
    clusterBlocks: guide(1),
    uniformRegistersPerWarp: guide(0),
    sharedPerSmBytes: guide(96 * KIB),
    sharedConfigurationsBytes: guide([0, 8, 16, 32, 64, 96].map((kib) => kib * KIB)),
    sharedPerBlockBytes: guide(96 * KIB),
    sharedReservedPerBlockBytes: guide(0),
    sharedUnitBytes: guide(256),
  },
  memory: {
    declaredBytes: reported(16160 * MIB),
    declaredBytesPerSecond: sheet(900e9),
    l2Bytes: sheet(6 * MIB),
    l1Bytes: sheet(128 * KIB, 'with shared memory'),
  },
  timing: {
    integerPerCycle: guide(2, '64 results a cycle'),
    float32PerCycle: guide(2, '64 results a cycle; 15.7 TFLOP/s rated'),
    float64PerCycle: guide(1, '32 results a cycle; 7.8 TFLOP/s rated'),
    specialPerCycle: guide(0.5, '16 results a cycle'),
    tensorPerCycle: guide(1.53, '512 multiply-adds of f16 a cycle, 1336 of an H200 by mma'),
    saveBytesPerSecond: cite('picker')(
      307e9,
      'its 98 us at most, less 4 for nothing, for all registers and shared memory of the card (20.0 MiB and 7.5 MiB)',
    ),
    latency: {
      alu: jia(4),
      float64: cite('accelSim')(8),
      shared: jia(19),
      l1: jia(28),
      l2: jia(193),
    },
  },
  copies: { hostLinkBytesPerSecond: cite('pcie')(13.84e9) },
  power: {
    processNanometres: sheet(12),
    limitWatts: sheet(300),
  },
};
