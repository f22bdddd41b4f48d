import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const board = cite('board');
const paper = cite('paper');
const reported = cite('reported');
const jia = cite('jia');
const assumed = cite('assumed');

/** The card that Clipper was measured on. */
export const k20c: DerivedCard = {
  name: 'k20c',
  productName: 'Tesla K20c',
  description: 'NVIDIA Tesla K20c, 5 GB GDDR5 (Kepler, compute capability 3.5)',
  measured: false,
  base: 'h200',
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C Programming Guide, technical specifications and instruction throughput of compute capability 3.5',
      url: 'https://docs.nvidia.com/cuda/archive/8.0/cuda-c-programming-guide/',
    },
    board: {
      kind: 'document',
      text: 'Tesla K20 GPU Accelerator, board specification BD-06455-001',
      url: 'https://www.nvidia.com/content/PDF/kepler/tesla-k20-passive-bd-06455-001-v05.pdf',
    },
    paper: {
      kind: 'document',
      text: 'NVIDIA Kepler GK110 white paper, 2012',
      url: 'https://www.nvidia.com/content/PDF/kepler/NVIDIA-Kepler-GK110-Architecture-Whitepaper.pdf',
    },
    reported: {
      kind: 'document',
      text: 'what public reports of nvidia-smi and of device queries show of the card',
    },
    jia: {
      kind: 'document',
      text: 'Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018, its column for Kepler',
      url: 'https://arxiv.org/abs/1804.06826',
    },
    pcie: { kind: 'derived', text: "an eighth of the H200's measured rate: PCIe 2.0 x16 for 5.0 x16" },
    gddr5: {
      kind: 'derived',
      text: "3.6 times the base card's: GDDR5 at 14 pJ a bit for HBM2's 3.9 (O'Connor et al., Fine-Grained DRAM, 2017)",
    },
    assumed: { kind: 'assumed', text: 'no public figure' },
  },
  sms: paper(13),
  smsPerTpc: assumed(1, 'Kepler pairs no SMs'),
  gpcTpcs: assumed([3, 3, 3, 2, 2], '13 SMs in 5 GPCs are known; their places are open'),
  clockHz: board(706e6, 'it has no boost; 758 MHz can be set'),
  clocks: {
    baseHz: board(706e6),
    minimumHz: reported(324e6),
    stepHz: assumed(1e6),
    memoryHz: board(2.6e9),
    memoryMinimumHz: reported(324e6),
  },
  limits: {
    portableClusterBlocks: guide(1, 'clusters came with compute capability 9.0'),
    clusterBlocks: guide(1),
    uniformRegistersPerWarp: guide(0),
    blocksPerSm: guide(16),
    sharedPerSmBytes: guide(48 * KIB),
    sharedConfigurationsBytes: guide([16 * KIB, 32 * KIB, 48 * KIB]),
    sharedPerBlockBytes: guide(48 * KIB),
    sharedReservedPerBlockBytes: guide(0),
    sharedUnitBytes: guide(256),
    parameterBytes: guide(4096),
    streamPriorities: guide(2),
  },
  memory: {
    declaredBytes: board(5120 * MIB, 'a tenth less with ECC on'),
    declaredBytesPerSecond: board(208e9),
    l2Bytes: paper(1280 * KIB),
    l1Bytes: guide(0, 'loads from global memory are not cached in L1'),
  },
  timing: {
    issuePerCycle: paper(8, 'four schedulers that may each issue two instructions of a warp'),
    warpIssueCycles: assumed(1, 'two independent instructions of a warp in two cycles'),
    integerPerCycle: guide(5, '160 results a cycle'),
    float32PerCycle: guide(6, '192 results a cycle; 3.52 TFLOP/s rated'),
    float64PerCycle: guide(2, '64 results a cycle; 1.17 TFLOP/s rated'),
    specialPerCycle: guide(1, '32 results a cycle'),
    tensorPerCycle: guide(0, 'no tensor cores'),
    latency: {
      alu: guide(9.5, 'about 11 cycles or less'),
      float64: assumed(10),
      shared: jia(26),
      l1: jia(35),
      l2: jia(200),
    },
  },
  copies: { hostLinkBytesPerSecond: cite('pcie')(6.92e9) },
  power: {
    processNanometres: paper(28),
    idleWatts: board(25),
    limitWatts: board(225),
    picojoules: { dramBytes: cite('gddr5')(281) },
  },
};
