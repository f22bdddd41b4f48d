import type { WholeCard } from '../card.js';
import { cite } from '../figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const guide = cite('guide');
const sheet = cite('sheet');
const device = cite('device');
const micro = cite('micro');
const fit = cite('calibration');
const copies = cite('copies');
const calls = cite('calls');
const power = cite('power');
const contexts = cite('contexts');
const picker = cite('picker');
const assumed = cite('assumed');
const heldOut = cite('heldOut');
const memory = cite('memory');
const contention = cite('contention');
const traffic = cite('traffic');

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
    copies: { kind: 'fitted', text: '../reference/h200-copies.csv' },
    calls: { kind: 'fitted', text: '../reference/h200-calls.csv' },
    power: {
      kind: 'fitted',
      text: '../reference/h200-power.csv and h200-power-samples.csv; values that change as in real work',
    },
    contexts: { kind: 'measured', text: '../reference/h200-processes.json' },
    picker: {
      kind: 'document',
      text: 'Han et al., Accurate and Ultra-Fast Launch-Time Validation of Idempotency for GPU Kernels, EuroSys 2026, measured on a GV100',
    },
    heldOut: { kind: 'fitted', text: '../../laboratory/launches/heldOut/h200-heldOut.csv' },
    memory: { kind: 'measured', text: '../reference/h200-memory.csv' },
    contention: {
      kind: 'fitted',
      text: '../../laboratory/launches/validation/h200-validation.csv: contention, meeting, reach',
    },
    traffic: { kind: 'measured', text: '../reference/h200-traffic.csv' },
    assumed: { kind: 'assumed', text: 'nothing measured it' },
  },
  sms: device(132),
  smsPerTpc: sheet(2),
  gpcTpcs: micro(
    [9, 9, 9, 9, 9, 9, 8, 4],
    '7 clusters of 16 blocks at once, 15 of 8, 30 of 4, 66 of 2, and the SMs that each had; of the card measured: others lack other TPCs',
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
    portableClusterBlocks: guide(8),
    clusterBlocks: guide(16, 'with cudaFuncAttributeNonPortableClusterSizeAllowed'),
    parameterBytes: guide(32764),
    streamPriorities: device(6, 'CUDA numbers them 0 to -5, the highest'),
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
    streamGapNs: calls(
      780,
      'chains of 10 and 100: 1.25 us a launch in a stream, 0.51 in a graph, of empty kernels; 6.34 and 5.53 of 5 us',
    ),
    graphStartNs: calls(180, 'graphs of one node back to back: 1.47 us, of ten 6.22'),
    eventRecordNs: calls(
      1280,
      'successive events; a timed event between two kernels: 2.82 us in place of 1.54',
    ),
    eventStepNs: calls(32, 'differences of successive events: 1248, 1280, 1312 ns'),
    contextSliceNs: contexts(
      2_090_900,
      'stops of two and of three processes: each has 2.091 ms, then the others',
    ),
    contextSwitchNs: contexts(
      155_000,
      'the stops are longer by this a switch; two processes of short launches get 2,461 a second each, a switch before each',
    ),
    killNs: picker(1_000, 'what it takes a kill to cost'),
    saveNs: picker(4_000, 'the least of 4 to 98 us that switches take there'),
    saveBytesPerSecond: picker(
      696e9,
      'the most, 98 us, for all registers and shared memory of the card (33.0 MiB and 29.4 MiB) at once',
    ),
    leastShareSms: contexts(8, '1 % of the threads; 10 % are 12 SMs, 25 % 32, 50 % 66, 75 % 98'),
    blockStartCycles: fit(400, 'slot set-up, first instruction fetch, parameters'),
    blocksPerCycle: micro(0.84, '1,081,344 empty blocks in 652 us; 1024 threads a block: 0.71'),
    overlapExponent: fit(
      5,
      'p-norm that joins the resources; 3 makes large saxpy and dense_relu 10 % slower',
    ),
    togetherExponent: fit(
      1.4,
      'the same for blocks that start together; 1.8 makes softmax, conv3x3 and sgemm_tiled of few blocks 3 % faster, 1.2 reduce 4 % slower',
    ),
    driftRounds: fit(
      30,
      'reads of 2, 8, 31 and 248 waits in a row need exponents of 1.0, 1.4, 2.4 and 3 or more; without: reduce of 0.5 GB +36 %, vecadd in strides +18 %',
    ),
    looseBarrierCycles: fit(
      300,
      'a barrier at the end of a chain keeps nobody together, one every 100 to 250 cycles does (sorts, stencils in shared memory)',
    ),
    chainExponent: fit(
      3,
      'p-norm that joins the chain with what the resources allow; 1.8 makes large saxpy 15 % slower',
    ),
    issuePerCycle: sheet(4, 'four schedulers'),
    warpIssueCycles: fit(
      1.25,
      'one warp alone does not issue every cycle; attention_row has 0.8 instructions a cycle and warp',
    ),
    schedulingWindow: fit(
      12,
      'dense_relu: SASS has 12 loads in flight; 20 makes it and conv3x3 4 % faster, 6 sgemm_naive 13 % slower',
    ),
    lookAhead: fit(
      12,
      'n-body and other long formulas: SASS interleaves two or three of them; without, arithmetic kernels 1 % worse in the mean',
    ),
    prologueSlots: fit(
      5,
      'SASS of every reference kernel starts with stack pointer and uniform constant loads; warp counts of saxpy, vecadd',
    ),
    integerPerCycle: micro(2, 'multiply-add 1.94, logic and add 64 lanes a cycle'),
    float32PerCycle: sheet(4, '128 lanes; measured 3.2 with loop overhead'),
    float64PerCycle: micro(2, '1.88 measured'),
    specialPerCycle: micro(0.5, 'ex2 0.496'),
    tensorPerCycle: micro(4, '16 warps: 4.1 cycles a product of 16 by 8 by 128 bits, 6.1 of 256'),
    wavefrontsPerCycle: micro(
      1,
      'loads with strides of 4, 8, 16, 32, 784 words: 4.03, 8.03, 16.03, 32.04, 16.04 cycles a request, as bank conflicts say; shared memory alike',
    ),
    clusterWavefronts: micro(
      8,
      'one cluster, and 64 of two: 17.0 and 16.2 bytes a cycle and SM; that many larger ones get less (of 4 7.8, of 8 8.6, of 16 5.7) is left out',
    ),
    tagsPerCycle: micro(4, 'stride 33: 32 lines without a bank conflict take 8.03 cycles'),
    l2PortBytesPerCycle: sheet(64),
    l2BytesPerSecond: fit(
      11.5e12,
      "reads in L2 gain 8.4 TB/s between 8 and 40 MB; dense_relu reaches 9 TB/s. Above both because a block's private L1 overstates the traffic by a fifth",
    ),
    dramBytesPerSecond: fit(4.0e12, 'vecadd, reduce, transpose of half a gigabyte and more'),
    atomicsPerAddressPerCycle: micro(0.69, 'one address: 1.365 operations a nanosecond'),
    storesPerAddressPerCycle: heldOut(
      0.45,
      'a flag that many warps set: 136 and 287 thousand requests of bfs_level in 346 and 586 thousand cycles',
    ),
    partialStoreWeightInL2: traffic(
      2.75,
      'beside a turn for each line: words stored to 1, 2, 3, 4 sectors of a line 72, 45, 34, 27 G lines a second',
    ),
    floatAtomicTurns: micro(2.4, 'f32 on one address: 0.56 operations a nanosecond, integers 1.33'),
    constantCycles: micro(2, 'uniform loads, 0.5 a cycle'),
    constantCyclesPerLine: micro(7.4, '32 lines in 250 cycles'),
    swapCycles: micro(3.5, 'shared f32 additions of all different words: 3.54 cycles a warp'),
    swapContentionCycles: traffic(
      40,
      'f32 additions of 32 warps at random to 1, 2, 4, 8, 16, 32 words: 1384, 699, 356, 185, 101, 58 cycles a warp',
    ),
    wideSwapContentionCycles: traffic(62, 'the same of u64: 2040, 1118, 579, 303, 162, 105; of f64 1984'),
    storeWeightInL2: micro(2, 'stores gain 4.7 TB/s over the same range'),
    fillCyclesPerLine: fit(
      0.7,
      'rbf_svm: 20.3 cycles a request where wavefronts alone give 17, with 4 lines missed; dense_relu, whose misses are whole lines, leaves no room for a cost a sector',
    ),
    atomicsPerCycle: micro(
      52,
      'a sector apart: 103 operations a nanosecond; operations on one sector go together',
    ),
    latency: {
      alu: micro(4.3),
      float64: micro(8.2),
      special: micro(18, 'ex2 with its scaling 43.7'),
      specialRegister: assumed(20, 'a common figure'),
      shared: micro(29),
      sharedAtomic: micro(100, 'a shared addition 142 with its loop'),
      swap: micro(95, 'shared f32 additions one after the other: 98.5 a turn'),
      constant: micro(38),
      constantLine: micro(49, '32 lines: 1587'),
      l1: micro(39.6),
      l2: micro(280),
      dram: fit(
        800,
        'idle 694: chases of random lines take 764 cycles from 16 GB on and 350 in L2 (h200-memory.csv); under load more: with 694 vecadd, softmax and strides of reads come out 3 to 10 % faster',
      ),
      atomic: micro(527),
      barrier: micro(13, 'bar.sync: 12.9 cycles, and 2.0 for every warp'),
      barrierWarp: micro(2),
      clusterShared: micro(206, 'another block of 2: 196 cycles, of 4 to 16: 215'),
      clusterBarrier: micro(
        345,
        '2 to 16 blocks of one warp: 339 to 351; of 8 warps 371 to 383, of 32 624 to 636',
      ),
      fence: memory(560, 'a store and membar.gl in a loop: 588 cycles'),
      fenceBlock: memory(15, 'a store and membar.cta: 19'),
      fenceSystem: memory(970, 'a store and membar.sys: 994'),
      shuffle: assumed(24, 'a common figure'),
      branch: assumed(10, 'a common figure'),
    },
    dramRowsPerSecond: traffic(
      44e9,
      '64 bytes at random places, or 256 and more apart: 23 ps each; two of them 128 bytes apart 33 together, four side by side 56',
    ),
    dramRowWriteWeight: traffic(
      1.8,
      'sectors written so 43 to 46 ps each; words, whose rest is read first, 63',
    ),
    l2TurnBytes: traffic(
      75,
      'requests for one sector of a line each: 152 G a second, 0.88 a cycle on one multiprocessor; 138 G of two sectors, 69 G of four',
    ),
    pageBytes: traffic(
      4 * MIB,
      'neighbouring pages of 2 MiB: one after the other they take half of what they take at random; four lanes or more on one page cost nothing',
    ),
    nearPages: traffic(
      32,
      'words of 64 pages of 2 MiB at random: 152 G/s, as of one; of 128: 101, 256: 69, 1,024: 44',
    ),
    pagesPerCycle: traffic(
      0.164,
      'words of 2,048 to 16,384 pages at random: 43 G/s of 132 multiprocessors, whether L2 has them or not',
    ),
    atomicResultWeight: contention(
      1.4,
      'additions to 65,536 words of 4 and 8 bytes: 4.8 and 8.1 us, with results 6.7 and 11.2',
    ),
    furtherSwapWeight: contention(
      2.35,
      "the same compared and swapped: 9.5 and 17.0 us, 2.1 in the mean of a line's four sectors; a sector apart 2.2, but at random in 8 MB, a sector of each line, 1.35",
    ),
    furtherDoubleTurns: contention(
      0.2,
      'additions of all lanes to 16 doubles side by side: 317 us, 1.6 turns of a sector; a sector apart as integers',
    ),
    swapTurns: contention(
      1.75,
      'compare and swap of 16 words of 4 and 8 bytes by all lanes: 2.5 cycles a sector and turn',
    ),
    swapPassShare: contention(
      0.35,
      'cas_loop on 1 to 64 words: 0.30 to 0.45 of the time that all tries take of a slice; 264 warps on one word: 2,000 cycles a success',
    ),
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
    hostToDeviceLatencyNs: copies(
      2650,
      'pinned, any size; 16 bytes alone take 2.24 us, for which there is no mechanism',
    ),
    deviceToHostLatencyNs: copies(1650),
    hostLinkBytesPerSecond: copies(55.3e9, '256 MiB in 4853 us either way'),
    bothWaysBytesPerSecond: calls(101.8e9, '256 MiB each way at once: 5284 us'),
    deviceToDeviceIntervalNs: copies(1550, 'to 4 KiB in a stream; 0.73 us less in a graph'),
    deviceToDeviceBytesPerSecond: copies(2.13e12, '64 MiB to 1 GiB in streams'),
    deviceToDeviceSmBytesPerSecond: copies(96e9, '1.55 us to 4 KiB, 1.80 us at 64 KiB'),
    deviceToDeviceL2BytesPerSecond: copies(3.45e12, '4 to 16 MiB'),
    fillKernelBytes: copies(8192, '8 KiB waits behind a kernel that fills the card, 4 KiB does not'),
    memsetIntervalNs: copies(1650, '8 KiB in a stream'),
    memsetBytesPerSecond: copies(4.65e12, '256 MiB to 1 GiB'),
    inlineFillNs: copies(770),
    inlineFillBytesPerSecond: copies(6.4e9, '4 bytes 0.77 us, 4 KiB 1.39 us'),
    inlineCopyBytes: copies(
      16384,
      'the device part of a pageable copy jumps from 1.7 to 3.5 us between 12 and 32 KiB',
    ),
    inlineCopyNs: copies(950, 'lone_event_us less host_call_us of small pageable copies: 1.0 us'),
    inlineCopyBytesPerSecond: copies(20e9, 'the same at 4 to 12 KiB'),
    engineSwitchNs: calls(
      3300,
      'a copy between two kernels of a stream: 10.8 us to the device, 11.8 us to the host, kernel gap and copy taken off, halved',
    ),
    peerLatencyNs: assumed(6000),
    stagingBytesPerSecond: copies(17e9, 'host_call_us of pageable copies of 64 KiB to 1 MiB'),
    uncachedStagingBytesPerSecond: copies(8.7e9, '64 MiB and more; differs by a quarter from host to host'),
    hostCacheBytes: copies(48 * MIB, 'between 32 and 64 MiB'),
    unstagingBytesPerSecond: copies(
      11.6e9,
      'pageable copies to the host, 64 KiB to 64 MiB within 13 %; larger ones are up to a fifth faster',
    ),
    stagingChunkBytes: copies(1 * MIB, 'above it the host core and the engine work at the same time'),
    unstagingNs: copies(
      3600,
      'host_to_end_us of small pageable copies less that of pinned ones on the device',
    ),
  },
  submission: {
    commandNs: assumed(700),
    launchNs: calls(3400, 'chain of 100 launches: 340 us of host calls'),
    hostCopyNs: copies(1450, 'host_call_us of pinned copies: 1.3 to 2.4 us'),
    pageableCopyNs: copies(2000, 'host_call_us of 4 bytes to 4 KiB'),
    deviceCopyNs: copies(
      4300,
      'host_call_us: 3.9 to 4.8 us; copies issued one by one are bound by it up to 8 MiB (h200-links.csv)',
    ),
    fillNs: copies(3700),
    inlineFillNs: copies(980),
    eventRecordNs: calls(790),
    queryNs: calls(200, 'query 0.20, wait 0.16, synchronise an idle stream 0.25 us'),
    streamCreateNs: calls(16_800),
    allocateNs: calls(1500, '1.8 us for 256 bytes, 1.4 for 1 MiB'),
    freeNs: calls(1400),
    mapNsPerPage: calls(170, '1 GiB 89 us; 64 MiB, at 40 us, is taken too cheap'),
    unmapNsPerPage: calls(650, '1 GiB 336 us; 64 MiB, at 55 us, is taken too cheap'),
    contextCreateNs: assumed(
      50_000,
      'a first call of 0.3 s brings up the driver, which a server has behind it',
    ),
    moduleBaseNs: assumed(30_000),
    moduleNsPerByte: assumed(2),
    graphLaunchNs: calls(1400, '1.2 to 1.9 us for 1 to 100 nodes'),
    graphUploadNsPerNode: calls(1250, 'first launch: 149 us for 100 nodes'),
    graphInstantiateNs: calls(15_000, '8 to 27 us for one node'),
    graphInstantiateNsPerNode: calls(1900, '190 to 389 us for 100 nodes'),
    payloadNsPerByte: assumed(0.02),
    doorbellNs: fit(900, 'with noticeNs what a call and a wait take beyond host call and device: 3.3 us'),
    noticeNs: calls(2400, 'as doorbellNs'),
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
      issue: power(
        340,
        'with float32: multiply-adds 385 on 1 to 132 SMs, 32 to 2048 threads; 132 when all values have settled',
      ),
      integer: power(10, 'with issue: lop3, shift, add 353'),
      float32: power(45, 'a turn: integer multiply-adds, of two turns, 430'),
      float64: power(700, 'with issue: 1016 on 66 SMs, 1075 on 132'),
      special: power(38, 'with issue: ex2 378'),
      tensor: power(420, 'not measured: 790 TFLOP/s of bf16 within the limit of 700 W'),
      data: power(230, 'shared memory 130, L1 340'),
      l2Port: power(27, 'with l2Bytes: 16 MB read in L2 31 to 36 a byte'),
      l2Bytes: power(6, 'the part that stores take twice'),
      dramBytes: power(78, 'reads 82, writes 72; 45 when all bytes are 0'),
      atomics: power(640, 'scattered over L2'),
    },
  },
};
