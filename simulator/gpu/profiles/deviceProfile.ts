/**
 * What a device is, as data. Limits are hard: a launch outside them is refused. `timing` holds what was fitted or
 * measured; every figure's source stands beside its value in the profile that sets it.
 */
export interface DeviceProfile {
  readonly name: string;
  readonly description: string;
  readonly sms: number;
  readonly smsPerTpc: number;
  /** TPCs of each GPC, in TPC order. */
  readonly gpcTpcs: readonly number[];
  readonly clockHz: number;
  readonly schedulersPerSm: number;
  readonly warpSize: number;
  readonly limits: DeviceLimits;
  readonly memory: DeviceMemory;
  readonly timing: DeviceTiming;
  readonly copies: CopyCosts;
  readonly submission: SubmissionCosts;
}

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
  readonly sharedPerSmBytes: number;
  readonly sharedPerBlockBytes: number;
  /** Shared memory that the system itself takes for each resident block. */
  readonly sharedReservedPerBlockBytes: number;
  readonly sharedUnitBytes: number;
  readonly parameterBytes: number;
}

export interface DeviceMemory {
  /** HBM that allocations are counted against, whatever backs them. */
  readonly declaredBytes: number;
  readonly declaredBytesPerSecond: number;
  readonly l2Bytes: number;
  readonly l1Bytes: number;
  readonly lineBytes: number;
  readonly sectorBytes: number;
}

/** Capacities are per cycle of the SM clock unless the name says otherwise; latencies are in cycles of it. */
export interface DeviceTiming {
  /** From the start of a launch to its first block and from its last block to its end, together. */
  readonly launchOverheadNs: number;
  /** How much of that hides behind the launch before it, when the stream holds both. */
  readonly launchOverlapNs: number;
  /** A block's start: slot set-up, first instruction fetch, parameter and special-register reads. */
  readonly blockStartCycles: number;
  /** Blocks that the whole device can start in a cycle. */
  readonly blocksPerCycle: number;
  /** Exponent of the norm that joins the limits of a block: 1 adds them, infinity takes the largest. */
  readonly overlapExponent: number;
  readonly issuePerCycle: number;
  /** Cycles between two issues of one warp that waits for nothing. */
  readonly warpIssueCycles: number;
  /** Machine instructions that every warp starts with and PTX does not show: stack pointer, constant loads, exit. */
  readonly prologueSlots: number;
  /** PTX instructions over which the assembler moves an instruction forward. */
  readonly schedulingWindow: number;
  /** Warp instructions a cycle and SM. */
  readonly integerPerCycle: number;
  readonly float32PerCycle: number;
  readonly float64PerCycle: number;
  readonly specialPerCycle: number;
  /** Data wavefronts of L1 and shared memory a cycle and SM. */
  readonly wavefrontsPerCycle: number;
  /** Distinct lines of one request that L1 looks up in a cycle. */
  readonly tagsPerCycle: number;
  readonly l2PortBytesPerCycle: number;
  /** Device-wide, from L2 to all SMs. */
  readonly l2BytesPerSecond: number;
  readonly dramBytesPerSecond: number;
  /** Atomic operations on one address a cycle, and on the whole device. */
  readonly atomicsPerAddressPerCycle: number;
  readonly atomicsPerCycle: number;
  /** L2 bandwidth that a stored byte takes, against a loaded one. */
  readonly storeWeightInL2: number;
  /** Cycles of L1's data array that the arrival of a line's missing sectors from L2 takes. */
  readonly fillCyclesPerLine: number;
  readonly latency: {
    readonly alu: number;
    readonly float64: number;
    readonly special: number;
    readonly specialRegister: number;
    readonly shared: number;
    readonly l1: number;
    readonly l2: number;
    readonly dram: number;
    readonly atomic: number;
    readonly barrier: number;
    readonly shuffle: number;
    /** From a taken branch to the next issue of that warp. */
    readonly branch: number;
  };
  /**
   * Share of a cyclic footprint that misses L2, by footprint: points of (bytes, share), straight lines between.
   * Not a step at the capacity: hashing over slices and a policy that is not LRU make it gradual.
   */
  readonly l2MissCurve: readonly (readonly [bytes: number, share: number])[];
}

export interface CopyCosts {
  readonly hostToDeviceLatencyNs: number;
  readonly deviceToHostLatencyNs: number;
  readonly deviceToDeviceLatencyNs: number;
  /** One direction of the host link. */
  readonly hostLinkBytesPerSecond: number;
  readonly deviceToDeviceBytesPerSecond: number;
  /** A device-to-device copy whose source and destination stay in L2. */
  readonly deviceToDeviceL2BytesPerSecond: number;
  readonly memsetBytesPerSecond: number;
  readonly peerLatencyNs: number;
  /** What a host core moves when it stages pageable memory. */
  readonly stagingBytesPerSecond: number;
  readonly hostToDeviceEngines: number;
  readonly deviceToHostEngines: number;
}

/** Host CPU that the driver spends on a command, in nanoseconds of one core, and the way to the device. */
export interface SubmissionCosts {
  readonly commandNs: number;
  readonly launchNs: number;
  readonly allocateNs: number;
  readonly freeNs: number;
  readonly contextCreateNs: number;
  readonly moduleBaseNs: number;
  readonly moduleNsPerByte: number;
  /** Serialising a command's payload, for instance bytes copied into a command buffer. */
  readonly payloadNsPerByte: number;
  /** From the host's doorbell to the front end's start on the command. */
  readonly doorbellNs: number;
}
