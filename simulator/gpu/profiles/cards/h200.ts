import type { WholeCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const sheet = cite('sheet');
const device = cite('device');
const micro = cite('micro');
const fit = cite('calibration');
const links = cite('links');
const power = cite('power');
const assumed = cite('assumed');

/** NVIDIA H200 SXM, the card that the timing model was fitted on. What is left of the errors is told in ../h200.md. */
export const h200: WholeCard = {
  name: 'h200',
  productName: 'NVIDIA H200',
  description: 'NVIDIA H200 SXM, 141 GB HBM3e (Hopper, compute capability 9.0)',
  measured: true,
  sources: {
    guide: {
      kind: 'document',
      text: 'CUDA C++ Programming Guide, technical specifications of compute capability 9.0',
      url: 'https://docs.nvidia.com/cuda/cuda-c-programming-guide/',
    },
    sheet: {
      kind: 'document',
      text: 'NVIDIA H200 data sheet and H100 architecture white paper',
      url: 'https://resources.nvidia.com/en-us-data-center-overview/hpc-datasheet-sc23-h200',
    },
    device: { kind: 'measured', text: 'what the measured card reports of itself' },
    micro: { kind: 'measured', text: 'h200-microbenchmarks.csv' },
    calibration: { kind: 'fitted', text: '../reference/h200-calibration.csv' },
    links: { kind: 'fitted', text: '../reference/h200-links.csv' },
    power: {
      kind: 'fitted',
      text: '../reference/h200-power.csv and h200-power-samples.csv; values that change as in real work',
    },
    assumed: { kind: 'assumed', text: 'nothing measured it' },
  },
  sms: device(132),
  smsPerTpc: sheet(2),
  gpcTpcs: assumed(
    [9, 9, 8, 8, 8, 8, 8, 8],
    '66 TPCs in 8 GPCs is from the white paper; which GPC has more is open',
  ),
  clockHz: fit(1.98e9, 'sm_cycles / duration_us of every launch'),
  clocks: {
    baseHz: sheet(1.59e9),
    minimumHz: device(345e6, 'where an unused card goes'),
    stepHz: device(15e6),
    memoryHz: device(3.201e9),
    memoryMinimumHz: device(3.201e9, 'the only memory clock that it offers under load'),
  },
  schedulersPerSm: sheet(4),
  warpSize: guide(32),
  limits: {
    threadsPerBlock: guide(1024),
    blockDim: guide([1024, 1024, 64]),
    gridDim: guide([2147483647, 65535, 65535]),
    threadsPerSm: guide(2048),
    warpsPerSm: guide(64),
    blocksPerSm: guide(32),
    registersPerSm: guide(65536),
    registersPerBlock: guide(65536),
    registersPerThread: guide(255),
    registerUnitPerWarp: guide(256),
    registerUnitPerBlock: guide(0),
    uniformRegistersPerWarp: guide(63),
    sharedPerSmBytes: guide(228 * KIB),
    sharedConfigurationsBytes: guide([0, 8, 16, 32, 64, 100, 132, 164, 196, 228].map((kib) => kib * KIB)),
    sharedPerBlockBytes: guide(227 * KIB),
    sharedReservedPerBlockBytes: guide(1 * KIB),
    sharedUnitBytes: guide(128),
    parameterBytes: guide(32764),
  },
  memory: {
    declaredBytes: device(143155 * MIB),
    declaredBytesPerSecond: sheet(4.8e12),
    l2Bytes: device(60 * MIB),
    l1Bytes: sheet(256 * KIB, 'with shared memory'),
    coalescedLanes: guide(32),
    lineBytes: guide(128),
    sectorBytes: guide(32),
  },
  timing: {
    launchOverheadNs: fit(1400, 'what a one-block kernel takes beyond its chain; saxpy of 256 elements +1 %'),
    launchOverlapNs: fit(900, 'duration_us - back_to_back_us of all small launches is 0.7 to 1.0 us'),
    blockStartCycles: fit(400, 'slot set-up, first instruction fetch, parameters'),
    blocksPerCycle: micro(0.84, '1,081,344 empty blocks in 652 us; 1024 threads a block: 0.71'),
    overlapExponent: fit(
      3.5,
      'p-norm that joins chain and resources; 3 makes kernels near two limits some 5 % slower, 4 makes mid-size grids faster',
    ),
    issuePerCycle: sheet(4, 'four schedulers'),
    warpIssueCycles: fit(2, 'one warp alone does not issue every cycle: register banks, dual-cycle pipes'),
    schedulingWindow: fit(
      12,
      'how far the assembler hoists; 40 makes conv3x3 of one image 40 % too fast, 12 fits it and, unseen, n-body',
    ),
    prologueSlots: fit(
      5,
      'SASS of every reference kernel starts with stack pointer and uniform constant loads; warp counts of saxpy, vecadd',
    ),
    integerPerCycle: micro(2, 'multiply-add 1.94, logic and add 64 lanes a cycle'),
    float32PerCycle: sheet(4, '128 lanes; measured 3.2 with loop overhead'),
    float64PerCycle: micro(2, '1.88 measured'),
    specialPerCycle: micro(0.5, 'ex2 0.496'),
    wavefrontsPerCycle: micro(
      1,
      'loads with strides of 4, 8, 16, 32, 784 words: 4.03, 8.03, 16.03, 32.04, 16.04 cycles a request, as bank conflicts say; shared memory alike',
    ),
    tagsPerCycle: micro(4, 'stride 33: 32 lines without a bank conflict take 8.03 cycles'),
    l2PortBytesPerCycle: sheet(64),
    l2BytesPerSecond: fit(
      11.5e12,
      "reads in L2 gain 8.4 TB/s between 8 and 40 MB; dense_relu reaches 9 TB/s. Above both because a block's private L1 overstates the traffic by a fifth",
    ),
    dramBytesPerSecond: fit(3.75e12, 'vecadd, reduce, transpose of half a gigabyte and more'),
    atomicsPerAddressPerCycle: micro(0.69, 'one address: 1.365 operations a nanosecond'),
    storeWeightInL2: micro(2, 'stores gain 4.7 TB/s over the same range'),
    fillCyclesPerLine: fit(
      0.8,
      'rbf_svm: 20.3 cycles a request where wavefronts alone give 17, with 4 lines missed; dense_relu, whose misses are whole lines, leaves no room for a cost a sector',
    ),
    atomicsPerCycle: micro(259, 'a million addresses: 512 operations a nanosecond'),
    latency: {
      alu: micro(4.5),
      float64: micro(8.2),
      special: micro(24, 'ex2 with its scaling 43.7'),
      specialRegister: assumed(20, 'a common figure'),
      shared: micro(29),
      l1: micro(39.6),
      l2: micro(280),
      dram: assumed(800, 'no chase went past L2; large sweeps hide it'),
      atomic: assumed(330, 'L2 and back'),
      barrier: micro(25, 'a barrier of 256 threads 28.9'),
      shuffle: assumed(24, 'a common figure'),
      branch: assumed(10, 'a common figure'),
    },
    l2MissCurve: fit(
      [
        [30e6, 0],
        [36e6, 0.06],
        [44e6, 0.25],
        [50e6, 0.78],
        [56e6, 0.97],
        [66e6, 1],
      ],
      'dram_bytes of vecadd 4 Mi (50 MB: 0.83), sgemm 2048 (50 MB: 0.66), forest 16,384 (51 MB: 0.94), reduce (67 MB: 1); read sweeps stay at L2 speed to 44 MB and are at DRAM speed from 56 MB',
    ),
  },
  copies: {
    hostToDeviceLatencyNs: links(2650),
    deviceToHostLatencyNs: links(1700),
    deviceToDeviceLatencyNs: links(4200),
    hostLinkBytesPerSecond: links(55.36e9, 'all rows of 16 MiB and less within 12 %'),
    deviceToDeviceBytesPerSecond: links(2.16e12),
    deviceToDeviceL2BytesPerSecond: links(6.6e12),
    memsetBytesPerSecond: assumed(3.5e12),
    peerLatencyNs: assumed(6000),
    stagingBytesPerSecond: assumed(11e9),
    hostToDeviceEngines: assumed(1),
    deviceToHostEngines: assumed(1),
  },
  submission: {
    commandNs: assumed(700),
    launchNs: fit(
      1800,
      'with doorbellNs near the 4.5 us by which lone_event_us exceeds duration_us, two event records included',
    ),
    allocateNs: assumed(2000),
    freeNs: assumed(2000),
    contextCreateNs: assumed(50_000),
    moduleBaseNs: assumed(30_000),
    moduleNsPerByte: assumed(2),
    payloadNsPerByte: assumed(0.02),
    doorbellNs: fit(900, 'see launchNs'),
  },
  power: {
    processNanometres: sheet(4, 'TSMC 4N'),
    idleWatts: power(115.2, 'asleep warps on all SMs: 114.0; after load up to 128 while the chip cools'),
    idleClockWatts: power(44, '119 W at 1980 MHz without a context, 77 W at 615 to 420, 76 W at 345'),
    limitWatts: device(700),
    memoryAwakeWatts: power(15, 'DRAM reads of 1 to 132 SMs: 15 W and 121 pJ a byte, L2 included'),
    voltageSlope: power(
      0.84,
      'mma.sync: 4.38 nJ an instruction at 1980 MHz, 4.03 at 1885 under the power cap',
    ),
    lowestVoltageShare: assumed(0.65),
    averagingNs: power(
      20e6,
      'its sensor shows every 100 ms; in the first of these the clock has fallen already',
    ),
    controlPeriodNs: power(10e6, 'as averagingNs; it settles within 0.2 s, at 1890 MHz in the mean'),
    picojoules: {
      issue: power(100, 'no row tells it from its pipe: the split is assumed, the sums are fitted'),
      integer: power(240, 'with issue: lop3, shift, add 353'),
      float32: power(
        285,
        'with issue: 385 on 1 to 132 SMs, 32 to 2048 threads; 132 when all values have settled',
      ),
      float64: power(950, 'with issue: 1016 on 66 SMs, 1075 on 132'),
      special: power(278, 'with issue: ex2 378'),
      data: power(560, 'shared memory 390, L1 730'),
      l2Port: power(26, 'with l2Bytes: 16 MB read in L2 30 to 35 a byte'),
      l2Bytes: power(6, 'the part that stores take twice'),
      dramBytes: power(78, 'reads 81, writes 72; 45 when all bytes are 0'),
      atomics: power(690, 'scattered over L2'),
    },
  },
};
