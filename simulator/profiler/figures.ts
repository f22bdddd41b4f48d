import type { Metric } from './metrics.js';
import type { TracedOnly } from './profileReport.js';

type SomeCounts = Readonly<Partial<Record<Metric, number>>>;

/** A figure made of counts, with what Nsight Compute calls it where it has the same. */
export interface Figure {
  readonly key: string;
  /** Of a column; short. */
  readonly heading: string;
  readonly meaning: string;
  readonly ncu?: string;
  readonly form: 'count' | 'ratio' | 'share';
  /** Undefined where it says nothing: a ratio of nothing. */
  readonly of: (counts: SomeCounts, traced?: TracedOnly) => number | undefined;
}

const get = (counts: SomeCounts, ...names: readonly Metric[]): number =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

const ratio = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);

const WARP_LANES = 32;

export const globalRequests = (counts: SomeCounts): number =>
  get(counts, 'globalLoadRequests', 'globalStoreRequests', 'globalAtomicRequests');
export const globalSectors = (counts: SomeCounts): number =>
  get(counts, 'globalLoadSectors', 'globalStoreSectors', 'globalAtomicSectors');
export const globalIdealSectors = (counts: SomeCounts): number =>
  get(counts, 'globalLoadIdealSectors', 'globalStoreIdealSectors', 'globalAtomicIdealSectors');
export const sharedRequests = (counts: SomeCounts): number =>
  get(counts, 'sharedLoadRequests', 'sharedStoreRequests', 'sharedAtomicRequests');
export const sharedWavefronts = (counts: SomeCounts): number =>
  get(counts, 'sharedLoadWavefronts', 'sharedStoreWavefronts', 'sharedAtomicWavefronts');
export const sharedConflicts = (counts: SomeCounts): number =>
  sharedWavefronts(counts) -
  get(counts, 'sharedLoadIdealWavefronts', 'sharedStoreIdealWavefronts', 'sharedAtomicIdealWavefronts');
export const branches = (counts: SomeCounts): number =>
  get(counts, 'branchesTaken', 'branchesNotTaken', 'branchesSplit');
/** Lanes that were there for nothing, counted as the warp instructions that they would have made. */
export const idleLanes = (counts: SomeCounts): number =>
  get(counts, 'warpInstructions') * WARP_LANES - get(counts, 'threadInstructions');

/** The figures of a line, in the order of the columns. */
export const LINE_FIGURES = {
  warpInstructions: {
    key: 'warpInstructions',
    heading: 'warp inst',
    meaning: 'warp instructions executed',
    ncu: 'smsp__inst_executed.sum',
    form: 'count',
    of: (counts) => get(counts, 'warpInstructions'),
  },
  threadInstructions: {
    key: 'threadInstructions',
    heading: 'thread inst',
    meaning: 'thread instructions executed, lanes that a guard turns away included',
    ncu: 'smsp__thread_inst_executed.sum',
    form: 'count',
    of: (counts) => get(counts, 'threadInstructions'),
  },
  lanes: {
    key: 'lanes',
    heading: 'lanes',
    meaning: 'lanes a warp instruction, of 32',
    ncu: 'smsp__thread_inst_executed_per_inst_executed.ratio',
    form: 'ratio',
    of: (counts) => ratio(get(counts, 'threadInstructions'), get(counts, 'warpInstructions')),
  },
  split: {
    key: 'split',
    heading: 'split',
    meaning: 'share of the conditional branches at which a warp splits',
    form: 'share',
    of: (counts) => ratio(get(counts, 'branchesSplit'), branches(counts)),
  },
  sectors: {
    key: 'sectors',
    heading: 'sect/req',
    meaning: 'sectors of 32 bytes that a request to global memory touches',
    form: 'ratio',
    of: (counts) => ratio(globalSectors(counts), globalRequests(counts)),
  },
  idealSectors: {
    key: 'idealSectors',
    heading: 'ideal',
    meaning: 'sectors that its bytes would fill if they lay side by side',
    form: 'ratio',
    of: (counts) => ratio(globalIdealSectors(counts), globalRequests(counts)),
  },
  distinctSectors: {
    key: 'distinctSectors',
    heading: 'distinct',
    meaning: 'different sectors that traced blocks touched',
    form: 'count',
    of: (_, traced) => unlessZero(traced?.distinctSectors ?? 0),
  },
  wavefronts: {
    key: 'wavefronts',
    heading: 'wave/req',
    meaning: 'wavefronts that a request to shared memory takes',
    form: 'ratio',
    of: (counts) => ratio(sharedWavefronts(counts), sharedRequests(counts)),
  },
  conflicts: {
    key: 'conflicts',
    heading: 'conflicts',
    meaning: 'wavefronts of shared memory that bank conflicts, and atomics on one bank, add',
    ncu: 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum',
    form: 'count',
    of: (counts) => (sharedRequests(counts) === 0 ? undefined : sharedConflicts(counts)),
  },
  collisions: {
    key: 'collisions',
    heading: 'collide',
    meaning: 'share of the lanes of atomics whose address an earlier lane of the warp has, too',
    form: 'share',
    of: (counts) => ratio(get(counts, 'atomicCollisions'), get(counts, 'atomicOperations')),
  },
} as const satisfies Readonly<Record<string, Figure>>;

/** The figures of a kernel or a launch as a whole. */
export const TOTAL_FIGURES: readonly Figure[] = [
  LINE_FIGURES.warpInstructions,
  LINE_FIGURES.threadInstructions,
  LINE_FIGURES.lanes,
  {
    key: 'activeLanes',
    heading: 'lanes, guards applied',
    meaning: 'lanes a warp instruction that pass its guard',
    ncu: 'smsp__thread_inst_executed_pred_on_per_inst_executed.ratio',
    form: 'ratio',
    of: (counts) => ratio(get(counts, 'activeThreads'), get(counts, 'warpInstructions')),
  },
  {
    key: 'idle',
    heading: 'idle lanes',
    meaning: 'share of the lanes that divergence and short warps leave idle',
    form: 'share',
    of: (counts) => ratio(idleLanes(counts), get(counts, 'warpInstructions') * WARP_LANES),
  },
  {
    key: 'branches',
    heading: 'conditional branches',
    meaning: 'conditional branches, by warps',
    form: 'count',
    of: (counts) => unlessZero(branches(counts)),
  },
  {
    key: 'splits',
    heading: 'of which split the warp',
    meaning: 'branches at which lanes of a warp part',
    ncu: 'smsp__sass_branch_targets_threads_divergent.sum',
    form: 'count',
    of: (counts) => (branches(counts) === 0 ? undefined : get(counts, 'branchesSplit')),
  },
  ...(['Load', 'Store', 'Atomic'] as const).flatMap((kind): Figure[] => {
    const suffix = { Load: 'ld', Store: 'st', Atomic: 'red' }[kind];
    const name = { Load: 'loads', Store: 'stores', Atomic: 'atomics' }[kind];
    return [
      {
        key: `global${kind}Requests`,
        heading: `global ${name}, requests`,
        meaning: `requests of warps to global memory: ${name}`,
        ncu: `l1tex__t_requests_pipe_lsu_mem_global_op_${suffix}.sum`,
        form: 'count',
        of: (counts) => unlessZero(get(counts, `global${kind}Requests`)),
      },
      {
        key: `global${kind}Sectors`,
        heading: `global ${name}, sectors a request`,
        meaning: `sectors of 32 bytes a request: ${name}`,
        ncu: `l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_${suffix}.ratio`,
        form: 'ratio',
        of: (counts) => ratio(get(counts, `global${kind}Sectors`), get(counts, `global${kind}Requests`)),
      },
      {
        key: `global${kind}Efficiency`,
        heading: `global ${name}, ideal / touched`,
        meaning: `sectors that the bytes would fill side by side over those that were touched: ${name}`,
        form: 'share',
        of: (counts) => ratio(get(counts, `global${kind}IdealSectors`), get(counts, `global${kind}Sectors`)),
      },
    ];
  }),
  ...(['Load', 'Store', 'Atomic'] as const).flatMap((kind): Figure[] => {
    const suffix = { Load: 'ld', Store: 'st', Atomic: 'atom' }[kind];
    const name = { Load: 'loads', Store: 'stores', Atomic: 'atomics' }[kind];
    return [
      {
        key: `shared${kind}Requests`,
        heading: `shared ${name}, requests`,
        meaning: `requests of warps to shared memory: ${name}`,
        ncu: `smsp__inst_executed_op_shared_${suffix}_pred_on_any.sum`,
        form: 'count',
        of: (counts) => unlessZero(get(counts, `shared${kind}Requests`)),
      },
      {
        key: `shared${kind}Wavefronts`,
        heading: `shared ${name}, wavefronts a request`,
        meaning: `wavefronts a request: ${name}`,
        form: 'ratio',
        of: (counts) => ratio(get(counts, `shared${kind}Wavefronts`), get(counts, `shared${kind}Requests`)),
      },
      {
        key: `shared${kind}Conflicts`,
        heading: `shared ${name}, bank conflicts`,
        meaning: `wavefronts that bank conflicts add: ${name}`,
        ncu: `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_${suffix}.sum`,
        form: 'count',
        of: (counts) =>
          get(counts, `shared${kind}Requests`) === 0
            ? undefined
            : get(counts, `shared${kind}Wavefronts`) - get(counts, `shared${kind}IdealWavefronts`),
      },
    ];
  }),
  {
    key: 'local',
    heading: 'local memory, requests',
    meaning: 'accesses of local memory by warps',
    form: 'count',
    of: (counts) => unlessZero(get(counts, 'localRequests')),
  },
  {
    key: 'constant',
    heading: 'constants, addresses a request',
    meaning: 'different addresses that a load of .const asks for; they are served one after another',
    form: 'ratio',
    of: (counts) => ratio(get(counts, 'constantAddresses'), get(counts, 'constantRequests')),
  },
  {
    key: 'collisions',
    heading: 'atomics that collide in a warp',
    meaning: LINE_FIGURES.collisions.meaning,
    form: 'share',
    of: LINE_FIGURES.collisions.of,
  },
];

/** What lines can be sorted by, the largest first; `line` keeps the order of the text. */
export const SORTS = {
  warp: (counts: SomeCounts): number => get(counts, 'warpInstructions'),
  thread: (counts: SomeCounts): number => get(counts, 'threadInstructions'),
  idle: idleLanes,
  split: (counts: SomeCounts): number => get(counts, 'branchesSplit'),
  sectors: globalSectors,
  excess: (counts: SomeCounts): number => globalSectors(counts) - globalIdealSectors(counts),
  conflicts: sharedConflicts,
  atomics: (counts: SomeCounts): number => get(counts, 'atomicOperations'),
  line: (): number => 0,
} as const;

export type SortKey = keyof typeof SORTS;
export const SORT_KEYS = Object.keys(SORTS) as SortKey[];
