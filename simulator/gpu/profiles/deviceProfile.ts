/**
 * What a device is, as plain numbers. Limits are hard: a launch outside them is refused. `timing` holds what was fitted or
 * measured; every figure's source stands beside its value in the card that sets it (`cards/`).
 */
export interface DeviceProfile extends DeviceFigures {
  readonly name: string;
  /** As the card's driver calls it. */
  readonly productName: string;
  readonly description: string;
  /** Whether its times were held against a real card. */
  readonly measured: boolean;
}

/** The part of a profile that is figures, each of which has a source. */
export interface DeviceFigures {
  readonly sms: number;
  readonly smsPerTpc: number;
  /** TPCs of each GPC, in TPC order. */
  readonly gpcTpcs: readonly number[];
  /** Highest SM clock, which a card under load has unless its power limit is in the way. What `timing` gives per second holds at it. */
  readonly clockHz: number;
  readonly clocks: DeviceClocks;
  readonly schedulersPerSm: number;
  readonly warpSize: number;
  readonly limits: DeviceLimits;
  readonly memory: DeviceMemory;
  readonly timing: DeviceTiming;
  readonly copies: CopyCosts;
  readonly submission: SubmissionCosts;
  readonly power: DevicePower;
}

export interface DeviceClocks {
  /** What the card's maker guarantees within its power limit. */
  readonly baseHz: number;
  readonly minimumHz: number;
  /** SM clocks are multiples of this. */
  readonly stepHz: number;
  readonly memoryHz: number;
  readonly memoryMinimumHz: number;
}

/** Where a card's energy goes. Energies hold at `clockHz`; at a lower clock the voltage is lower, and they fall with its square. */
export interface DevicePower {
  /** Feature size that the process is named after: energies that are not known are those of a card of the same one. */
  readonly processNanometres: number;
  /** With a context and nothing running, at `clockHz`. */
  readonly idleWatts: number;
  /** The part of it that goes with the SM clock and with squared voltage. */
  readonly idleClockWatts: number;
  readonly limitWatts: number;
  /** Of memory that is in use at all, beyond what its bytes take. */
  readonly memoryAwakeWatts: number;
  /** By which part the voltage falls for a part of the clock, from `clockHz` down. */
  readonly voltageSlope: number;
  /** Where it stops to fall, over the voltage at `clockHz`. */
  readonly lowestVoltageShare: number;
  /** Time constant of the average that is held against the limit. */
  readonly averagingNs: number;
  /** How often the clock may change because of it. */
  readonly controlPeriodNs: number;
  /** Energy of one unit of work of each kind, by the names in `../timing/blockWork.ts`. */
  readonly picojoules: Readonly<Record<EnergyClass, number>>;
}

/** `issue` to `special`: a warp instruction; `tensor`: a cycle of one of its cores; `data`: a wavefront of L1 or shared memory; then bytes, and one atomic operation. */
export type EnergyClass =
  | 'issue'
  | 'integer'
  | 'float32'
  | 'float64'
  | 'special'
  | 'tensor'
  | 'data'
  | 'l2Port'
  | 'l2Bytes'
  | 'dramBytes'
  | 'atomics';

export interface DeviceLimits {
  readonly threadsPerBlock: number;
  readonly blockDim: readonly [number, number, number];
  readonly gridDim: readonly [number, number, number];
  readonly threadsPerSm: number;
  readonly warpsPerSm: number;
  readonly blocksPerSm: number;
  readonly registersPerSm: number;
  readonly registersPerBlock: number;
  readonly registersPerThread: number;
  /** Registers are given to a warp in units of this many. */
  readonly registerUnitPerWarp: number;
  /** Of cards that give registers to whole blocks: the unit; 0 for those that give them to warps. */
  readonly registerUnitPerBlock: number;
  /** Registers of a warp for what all its threads share; 0 where there are none. */
  readonly uniformRegistersPerWarp: number;
  readonly sharedPerSmBytes: number;
  /** What an SM can be set to, in ascending order; the driver takes the least that holds what is resident. */
  readonly sharedConfigurationsBytes: readonly number[];
  readonly sharedPerBlockBytes: number;
  /** Shared memory that the system itself takes for each resident block. */
  readonly sharedReservedPerBlockBytes: number;
  readonly sharedUnitBytes: number;
  /** The most blocks of a cluster: those that every card with clusters can run, and those that this one can. 1: it has none. */
  readonly portableClusterBlocks: number;
  readonly clusterBlocks: number;
  readonly parameterBytes: number;
  /** Levels of stream priority, from 0 up. */
  readonly streamPriorities: number;
}

export interface DeviceMemory {
  /** HBM that allocations are counted against, whatever backs them. */
  readonly declaredBytes: number;
  readonly declaredBytesPerSecond: number;
  readonly l2Bytes: number;
  readonly l1Bytes: number;
  /**
   * Lanes whose accesses are joined: 32 for a warp's distinct sectors and 32 banks of shared memory, 16 for the half-warps,
   * segments and 16 banks of compute capability 1.0.
   */
  readonly coalescedLanes: number;
  readonly lineBytes: number;
  readonly sectorBytes: number;
}

/** Rules of the timing model that no figure switches off; `../timing/mechanisms.ts` says what each is for. */
export type TimingRule =
  | 'coalescing'
  | 'bankConflicts'
  | 'divergence'
  | 'instructionCosts'
  | 'assemblerLayout'
  | 'barriers'
  | 'swapLoops'
  | 'warpAggregation'
  | 'sharedLines'
  | 'looseBlocks'
  | 'storeOrder'
  | 'storeQueue'
  | 'localMemory'
  | 'unevenBlocks'
  | 'waves';

/** Capacities are per cycle of the SM clock unless the name says otherwise; latencies are in cycles of it. */
export interface DeviceTiming {
  /** Rules that are left out, to learn what they are good for; no real card names any. */
  readonly withoutRules?: readonly TimingRule[];
  /** From the start of a launch to its first block and from its last block to its end, together. */
  readonly launchOverheadNs: number;
  /** How much of that hides behind the launch before it, from node to node of a graph. */
  readonly launchOverlapNs: number;
  /** What a launch behind a launch takes longer in a stream than in a graph. */
  readonly streamGapNs: number;
  /** What a graph's first node takes beyond that. */
  readonly graphStartNs: number;
  /** What the record of an event with a time stamp takes of its stream. */
  readonly eventRecordNs: number;
  /** Steps of the clock that events are stamped with. */
  readonly eventStepNs: number;
  /** A block's start: slot set-up, first instruction fetch, parameter and special-register reads. */
  readonly blockStartCycles: number;
  /** Of contexts that have the card in turn: how long each turn is while others wait, and the time between two. */
  readonly contextSliceNs: number;
  readonly contextSwitchNs: number;
  /** Of a launch whose blocks are killed: until their SMs are free. */
  readonly killNs: number;
  /** Of blocks whose registers and shared memory are copied out, or back: what it takes whatever there is, and the rate. */
  readonly saveNs: number;
  readonly saveBytesPerSecond: number;
  /** The fewest SMs that a context's share under MPS comes to. */
  readonly leastShareSms: number;
  /** Blocks that the whole device can start in a cycle. */
  readonly blocksPerCycle: number;
  /** Exponent of the norm that joins the limits of a block: 1 adds them, infinity takes the largest. */
  readonly overlapExponent: number;
  /** The same of the norm that joins a block's latencies with its waits for resources. */
  readonly chainExponent: number;
  /** The same of blocks that start together, the first ones of a launch. */
  readonly togetherExponent: number;
  /** Waits for memory after which blocks that started together are half as far apart as they can be. */
  readonly driftRounds: number;
  /** Cycles between barriers from which on warps that wait for their own results count as apart. */
  readonly looseBarrierCycles: number;
  readonly issuePerCycle: number;
  /** Cycles between two issues of one warp that waits for nothing. */
  readonly warpIssueCycles: number;
  /** Machine instructions that every warp starts with and PTX does not show: stack pointer, constant loads, exit. */
  readonly prologueSlots: number;
  /** How many operations of a formula of floats the assembler looks ahead for one that need not wait. */
  readonly lookAhead: number;
  /** Loads of a warp that are in flight at once: more need more registers. */
  readonly schedulingWindow: number;
  /** Warp instructions a cycle and SM. */
  readonly integerPerCycle: number;
  readonly float32PerCycle: number;
  readonly float64PerCycle: number;
  readonly specialPerCycle: number;
  /** Tensor cores, in those of an H200; 0: none. */
  readonly tensorPerCycle: number;
  /** Data wavefronts of L1 and shared memory a cycle and SM. */
  readonly wavefrontsPerCycle: number;
  /** What a wavefront in the shared memory of another block takes, in wavefronts. */
  readonly clusterWavefronts: number;
  /** Distinct lines of one request that L1 looks up in a cycle. */
  readonly tagsPerCycle: number;
  readonly l2PortBytesPerCycle: number;
  /** Device-wide, from L2 to all SMs. */
  readonly l2BytesPerSecond: number;
  readonly dramBytesPerSecond: number;
  /** Atomic operations on one address a cycle, and on the whole device. */
  readonly atomicsPerAddressPerCycle: number;
  /** Requests of warps that store to one word. */
  readonly storesPerAddressPerCycle: number;
  readonly atomicsPerCycle: number;
  /** L2 bandwidth that a stored byte takes, against a loaded one. */
  readonly storeWeightInL2: number;
  /** The same of stores that fill only parts of sectors. */
  readonly partialStoreWeightInL2: number;
  /** Of float operations on one address each takes as long as so many of integers. */
  readonly floatAtomicTurns: number;
  /** Of the constant cache: a load that is the same for all lanes, and each line of one that is not. */
  readonly constantCycles: number;
  readonly constantCyclesPerLine: number;
  /** Of the shared memory, for a wavefront of a turn of a loop that compares and swaps. */
  readonly swapCycles: number;
  /** How long such a loop has a word to itself: of all that want it one gets through at a time; and of 8 bytes. */
  readonly swapContentionCycles: number;
  readonly wideSwapContentionCycles: number;
  /** Cycles of L1's data array that the arrival of a line's missing sectors from L2 takes. */
  readonly fillCyclesPerLine: number;
  readonly latency: {
    readonly alu: number;
    readonly float64: number;
    readonly special: number;
    readonly specialRegister: number;
    readonly shared: number;
    /** Of an atomic operation in shared memory, and of one turn of a loop that makes others of compare and swap. */
    readonly sharedAtomic: number;
    readonly swap: number;
    readonly constant: number;
    /** For every further line of the constant cache. */
    readonly constantLine: number;
    readonly l1: number;
    readonly l2: number;
    readonly dram: number;
    readonly atomic: number;
    readonly barrier: number;
    /** Each warp that waits there makes it so much longer. */
    readonly barrierWarp: number;
    /** Of a load from the shared memory of another block of the cluster, and of the way of the cluster's barrier through it. */
    readonly clusterShared: number;
    readonly clusterBarrier: number;
    /** Of a fence for all of the device, for the block, and for the host and other devices, too. */
    readonly fence: number;
    readonly fenceBlock: number;
    readonly fenceSystem: number;
    readonly shuffle: number;
    /** From a taken branch to the next issue of that warp. */
    readonly branch: number;
  };
  /**
   * Share of a cyclic footprint that misses L2, by footprint: points of (bytes, share), straight lines between.
   * Not a step at the capacity: hashing over slices and a policy that is not LRU make it gradual.
   */
  readonly l2MissCurve: readonly (readonly [bytes: number, share: number])[];
  /** Rows of DRAM's that it opens: 256 bytes lie together, what lies further apart is hashed over channels and banks. */
  readonly dramRowsPerSecond: number;
  /** What opening one to write takes, against one that is read. */
  readonly dramRowWriteWeight: number;
  /** What a request for one sector of a line takes of L2 and of the way there, as bytes. */
  readonly l2TurnBytes: number;
  /** Of virtual memory: what lies together, as far as looking up where it is goes. */
  readonly pageBytes: number;
  /** Pages of which a multiprocessor knows where they are, and others that it gets to know a cycle while all do. */
  readonly nearPages: number;
  readonly pagesPerCycle: number;
  /** What an atomic operation takes of L2 whose result is waited for, against one nobody waits for. */
  readonly atomicResultWeight: number;
  /** The same of a compare and swap for each sector of a line beyond its request's first, whose turn has room for both operands. */
  readonly furtherSwapWeight: number;
  /** Turns of L2 that each further double of a sector takes that is added to. */
  readonly furtherDoubleTurns: number;
  /** Turns of L2 that a compare and swap of several words of a sector takes. */
  readonly swapTurns: number;
  /**
   * Of loops that compare and swap until they succeed: the part of the time that L2 takes for one try of everybody, until the
   * next of them brings what a word holds now.
   */
  readonly swapPassShare: number;
}

/** Copies by engines and by the device's front end, and what those that SMs do cost beyond a launch. */
export interface CopyCosts {
  readonly hostToDeviceLatencyNs: number;
  readonly deviceToHostLatencyNs: number;
  /** One direction of the host link. */
  readonly hostLinkBytesPerSecond: number;
  /** Both of its directions together, when both are in use. */
  readonly bothWaysBytesPerSecond: number;
  /** From one small copy inside device memory to the next in a stream. */
  readonly deviceToDeviceIntervalNs: number;
  readonly deviceToDeviceBytesPerSecond: number;
  /** What one SM copies. */
  readonly deviceToDeviceSmBytesPerSecond: number;
  /** A device-to-device copy whose source and destination stay in L2. */
  readonly deviceToDeviceL2BytesPerSecond: number;
  /** Fills of this size and more are kernels; smaller ones are written by the front end. */
  readonly fillKernelBytes: number;
  /** From one small fill by a kernel to the next in a stream. */
  readonly memsetIntervalNs: number;
  readonly memsetBytesPerSecond: number;
  readonly inlineFillNs: number;
  readonly inlineFillBytesPerSecond: number;
  /** Pageable bytes up to this many travel to the device within the command. */
  readonly inlineCopyBytes: number;
  readonly inlineCopyNs: number;
  readonly inlineCopyBytesPerSecond: number;
  /** Between a kernel's end and the copy that waits for it in its stream, and the other way round. */
  readonly engineSwitchNs: number;
  readonly peerLatencyNs: number;
  /** What a host core moves from pageable memory to where the engine can read it. */
  readonly stagingBytesPerSecond: number;
  /** The same of bytes that its cache does not hold. */
  readonly uncachedStagingBytesPerSecond: number;
  readonly hostCacheBytes: number;
  /** What a host core moves to pageable memory, behind the engine by a piece of this size. */
  readonly unstagingBytesPerSecond: number;
  readonly stagingChunkBytes: number;
  /** Before a host core sees that the engine has come to an end, and begins. */
  readonly unstagingNs: number;
}

/** Host CPU that the driver spends on a command, in nanoseconds of one core, and the ways to the device and back. */
export interface SubmissionCosts {
  /** Of commands that have no line of their own. */
  readonly commandNs: number;
  readonly launchNs: number;
  /** A copy between pinned host memory and the device. */
  readonly hostCopyNs: number;
  /** A copy from pageable memory, without the staging. */
  readonly pageableCopyNs: number;
  /** A copy inside device memory: a launch and more. */
  readonly deviceCopyNs: number;
  readonly fillNs: number;
  readonly inlineFillNs: number;
  readonly eventRecordNs: number;
  readonly queryNs: number;
  readonly streamCreateNs: number;
  readonly allocateNs: number;
  readonly freeNs: number;
  /** For each 2 MiB. */
  readonly mapNsPerPage: number;
  readonly unmapNsPerPage: number;
  readonly contextCreateNs: number;
  readonly moduleBaseNs: number;
  readonly moduleNsPerByte: number;
  readonly graphLaunchNs: number;
  /** At a graph's first launch. */
  readonly graphUploadNsPerNode: number;
  readonly graphInstantiateNs: number;
  readonly graphInstantiateNsPerNode: number;
  /** Serialising a command's payload, for instance bytes copied into a command buffer. */
  readonly payloadNsPerByte: number;
  /** From the host's doorbell to the front end's start on the command. */
  readonly doorbellNs: number;
  /** From an end on the device to the host thread that waited for it. */
  readonly noticeNs: number;
}
