/** What is counted of each instruction; all of them add up over instructions, blocks and launches. */
export const METRICS = [
  'warpInstructions',
  /** Lanes that came to the instruction, those that its guard turns away included. */
  'threadInstructions',
  /** Lanes that pass its guard. */
  'activeThreads',
  /** Of conditional branches, by warps: all lanes take it, none does, or the warp splits. */
  'branchesTaken',
  'branchesNotTaken',
  'branchesSplit',
  'globalLoadRequests',
  'globalLoadSectors',
  /** Sectors that the same bytes would fill if the lanes' accesses lay side by side. */
  'globalLoadIdealSectors',
  'globalLoadBytes',
  'globalStoreRequests',
  'globalStoreSectors',
  'globalStoreIdealSectors',
  'globalStoreBytes',
  'globalAtomicRequests',
  'globalAtomicSectors',
  'globalAtomicIdealSectors',
  'globalAtomicBytes',
  'sharedLoadRequests',
  'sharedLoadWavefronts',
  /** Wavefronts that the same access takes when no two words lie on one bank. */
  'sharedLoadIdealWavefronts',
  'sharedLoadBytes',
  'sharedStoreRequests',
  'sharedStoreWavefronts',
  'sharedStoreIdealWavefronts',
  'sharedStoreBytes',
  'sharedAtomicRequests',
  'sharedAtomicWavefronts',
  'sharedAtomicIdealWavefronts',
  'sharedAtomicBytes',
  /** Accesses of local memory by warps. */
  'localRequests',
  /** Loads of `.const` by warps, and the different addresses that each asked for: they are served one by one. */
  'constantRequests',
  'constantAddresses',
  /** Lanes' atomics on global and shared memory, and those whose address another lane of the warp has, too. */
  'atomicOperations',
  'atomicCollisions',
] as const;

export type Metric = (typeof METRICS)[number];
export type Counts = Record<Metric, number>;

export const METRIC_INDEX = Object.fromEntries(METRICS.map((name, index) => [name, index])) as Record<
  Metric,
  number
>;

export function noCounts(): Counts {
  return Object.fromEntries(METRICS.map((name) => [name, 0])) as Counts;
}

export function addCounts(into: Counts, more: Readonly<Counts>): void {
  for (const name of METRICS) into[name] += more[name];
}

/** Counts of every instruction of a kernel. */
export class InstructionTable {
  readonly values: Float64Array;

  constructor(readonly instructions: number) {
    this.values = new Float64Array(instructions * METRICS.length);
  }

  add(instruction: number, metric: number, amount: number): void {
    this.values[instruction * METRICS.length + metric] += amount;
  }

  get(instruction: number, metric: Metric): number {
    return this.values[instruction * METRICS.length + METRIC_INDEX[metric]];
  }

  set(instruction: number, metric: Metric, value: number): void {
    this.values[instruction * METRICS.length + METRIC_INDEX[metric]] = value;
  }

  /** Multiplies all that is counted of one instruction. */
  scale(instruction: number, factor: number): void {
    const first = instruction * METRICS.length;
    for (let index = first; index < first + METRICS.length; index++) this.values[index] *= factor;
  }

  addTo(into: Counts, instruction: number): void {
    const first = instruction * METRICS.length;
    METRICS.forEach((name, index) => (into[name] += this.values[first + index]));
  }
}
