import type { DerivedCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const tesla = cite('tesla');
const sheet = cite('sheet');
const wong = cite('wong');
const assumed = cite('assumed');

/** Cycles are those of the 1.35 GHz clock of its processors. */
export const geforce8800: DerivedCard = {
  name: '8800gtx',
  productName: 'GeForce 8800 GTX',
  description: 'NVIDIA GeForce 8800 GTX, 768 MB GDDR3 (Tesla, compute capability 1.0)',
  measured: false,
  base: 'k20c',
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C Programming Guide 4.2, technical specifications of compute capability 1.0',
      url: 'https://developer.download.nvidia.com/compute/DevZone/docs/html/C/doc/CUDA_C_Programming_Guide.pdf',
    },
    tesla: {
      kind: 'document',
      text: 'Lindholm et al., NVIDIA Tesla: A Unified Graphics and Computing Architecture, IEEE Micro 28(2), 2008',
    },
    sheet: { kind: 'document', text: 'public specifications of the GeForce 8800 GTX' },
    wong: {
      kind: 'document',
      text: 'Wong et al., Demystifying GPU Microarchitecture through Microbenchmarking, 2010: the GT200, its successor',
    },
    pcie: { kind: 'derived', text: "a sixteenth of the H200's measured rate: PCIe 1.0 x16 for 5.0 x16" },
    gddr3: { kind: 'assumed', text: 'as GDDR5 of k20c' },
    assumed: { kind: 'assumed', text: 'no public figure' },
  },
  sms: tesla(16),
  smsPerTpc: tesla(2),
  gpcTpcs: tesla([1, 1, 1, 1, 1, 1, 1, 1], 'eight TPCs, with no level above them'),
  clockHz: sheet(1.35e9, "the paper's 8800 Ultra has 1.5 GHz"),
  clocks: {
    baseHz: sheet(1.35e9),
    minimumHz: sheet(1.35e9, 'it cannot be set'),
    stepHz: assumed(1e6),
    memoryHz: sheet(900e6),
    memoryMinimumHz: sheet(900e6, 'it cannot be set'),
  },
  schedulersPerSm: tesla(1),
  limits: {
    threadsPerBlock: tesla(512),
    blockDim: guide([512, 512, 64]),
    gridDim: guide([65535, 65535, 1]),
    threadsPerSm: tesla(768),
    warpsPerSm: tesla(24),
    blocksPerSm: tesla(8),
    registersPerSm: guide(8192),
    registersPerBlock: guide(8192),
    registersPerThread: guide(124),
    registerUnitPerWarp: guide(32, 'it rounds up by the block'),
    registerUnitPerBlock: guide(256, 'an even number of warps'),
    sharedPerSmBytes: tesla(16 * KIB),
    sharedConfigurationsBytes: tesla([16 * KIB]),
    sharedPerBlockBytes: tesla(16 * KIB, 'a part of it holds the arguments, which is left out'),
    sharedUnitBytes: guide(512),
    portableClusterBlocks: guide(1, 'clusters came with compute capability 9.0'),
    clusterBlocks: guide(1),
    parameterBytes: guide(256),
    streamPriorities: guide(1),
  },
  memory: {
    declaredBytes: sheet(768 * MIB),
    declaredBytesPerSecond: sheet(86.4e9, '384 pins at 1.8 GT/s'),
    l2Bytes: tesla(0, 'its L2 serves textures alone'),
    l1Bytes: guide(0, 'loads from global memory are not cached'),
    coalescedLanes: guide(16),
  },
  timing: {
    issuePerCycle: tesla(0.5, 'the scheduler runs at half the clock'),
    warpIssueCycles: tesla(4, 'a warp goes through 8 lanes'),
    integerPerCycle: tesla(0.25, '8 lanes'),
    float32PerCycle: tesla(0.25, '8 lanes; 345.6 GFLOP/s of multiply-add'),
    float64PerCycle: guide(0, 'no double precision'),
    specialPerCycle: tesla(0.0625, '2 units of one result a cycle'),
    tensorPerCycle: guide(0, 'no tensor cores'),
    wavefrontsPerCycle: guide(0.25, '16 banks at half the clock: a warp in two halves'),
    tagsPerCycle: assumed(1),
    l2PortBytesPerCycle: assumed(16),
    l2BytesPerSecond: assumed(115e9, 'above the DRAM behind it'),
    storeWeightInL2: assumed(1),
    fillCyclesPerLine: assumed(0),
    atomicsPerCycle: guide(0, 'no atomics'),
    latency: {
      alu: wong(24),
      float64: assumed(24, 'unused'),
      special: wong(28),
      shared: wong(38),
      l1: wong(443, 'no cache: as of memory'),
      l2: wong(443, 'no cache: as of memory'),
      dram: wong(443),
      atomic: wong(443, 'unused'),
    },
    l2MissCurve: tesla(
      [
        [1, 0],
        [2, 1],
      ],
      'no cache: everything misses',
    ),
  },
  copies: {
    hostLinkBytesPerSecond: cite('pcie')(3.46e9),
    deviceToDeviceL2BytesPerSecond: assumed(37e9, 'no cache: as from memory'),
  },
  power: {
    processNanometres: tesla(90),
    limitWatts: sheet(155),
    picojoules: { dramBytes: cite('gddr3')(281) },
  },
};
