import type { OutputRule } from './outputComparison.js';

/** A kernel of the table, its launch and the same loop nest in C. */
export interface BenchKernel {
  readonly name: string;
  /** Launch spec, from the repository's root. */
  readonly launch: string;
  /** Source of the twin, in `twins`. */
  readonly twin: string;
  /** C time over ours at steady speed: what must hold, and what is wanted. */
  readonly floor: number;
  readonly aim: number;
  readonly rule: OutputRule;
  /** PTX thread-instructions a second that must be reached besides. */
  readonly leastInstructionsPerSecond?: number;
}

const MEASURED = 'simulator/gpu/reference/launches';
const OWN = 'loadtest/bench/ptx/launches';

/** Bounds of a few units in the last place of the largest partial sum. */
const bound = (absolute: number, why: string): OutputRule => ({ relative: 1e-5, absolute, why });

const ANOTHER_ORDER = 'the kernel adds lanes in a tree, C one after another';
/** For the same processor gcc fuses one loop's product and sum and not another's, by what it takes to be faster. */
const FUSING = 'gcc fuses products and sums where it finds that faster, nvcc everywhere';

export const BENCH_KERNELS: readonly BenchKernel[] = [
  {
    name: 'sgemm_naive 512',
    launch: `${MEASURED}/sgemm_naive__M-N-K-512.json`,
    twin: 'sgemmNaive.c',
    floor: 0.4,
    aim: 1,
    rule: bound(1e-4, FUSING),
    leastInstructionsPerSecond: 1.5e9,
  },
  {
    name: 'conv3x3 N=8 28x28',
    launch: `${MEASURED}/conv3x3__N-8-C-32-H-W-28-K-64.json`,
    twin: 'conv3x3.c',
    floor: 0.4,
    aim: 1,
    rule: bound(1e-4, FUSING),
  },
  {
    name: 'dense_relu 512x784x512',
    launch: `${MEASURED}/dense_relu__batch-512-in-784-out-512.json`,
    twin: 'denseRelu.c',
    floor: 0.4,
    aim: 1,
    rule: bound(1e-4, ANOTHER_ORDER),
  },
  {
    name: 'rbf_svm 128x512',
    launch: `${MEASURED}/rbf_svm__batch-128-nsv-512-dim-784-gamma-0-002.json`,
    twin: 'rbfSvm.c',
    floor: 0.3,
    aim: 0.7,
    rule: bound(1e-4, `${ANOTHER_ORDER}; the C library's exponential is another`),
  },
  {
    name: 'gather 2^24 of 2^20',
    launch: `${OWN}/gather.json`,
    twin: 'gather.c',
    floor: 0.3,
    aim: 0.7,
    rule: 'exact',
  },
  {
    name: 'stencil 4096x4096',
    launch: `${OWN}/stencil.json`,
    twin: 'stencil.c',
    floor: 0.3,
    aim: 0.7,
    rule: bound(1e-6, FUSING),
  },
  {
    name: 'mandelbrot 1024',
    launch: `${OWN}/mandelbrot.json`,
    twin: 'mandelbrot.c',
    floor: 0.3,
    aim: 0.7,
    rule: {
      relative: 0,
      absolute: 0,
      mayDiffer: 0.01,
      why: `${FUSING}, and a pixel at the edge of the set turns on it`,
    },
  },
  {
    name: 'saxpy 2^24',
    launch: `${MEASURED}/saxpy__n-16777216-a-1-5.json`,
    twin: 'saxpy.c',
    floor: 0.4,
    aim: 0.7,
    rule: bound(1e-6, FUSING),
  },
  {
    name: 'softmax_rows 1024x8192',
    launch: `${MEASURED}/softmax_rows__rows-1024-cols-8192.json`,
    twin: 'softmaxRows.c',
    floor: 0.4,
    aim: 0.7,
    rule: bound(1e-9, `${ANOTHER_ORDER}; the C library's exponential is another`),
  },
  {
    name: 'transpose 4096',
    launch: `${MEASURED}/transpose__rows-cols-4096.json`,
    twin: 'transpose.c',
    floor: 0.4,
    aim: 0.7,
    rule: 'exact',
  },
  {
    name: 'n_body 8192',
    launch: `${OWN}/nBody.json`,
    twin: 'nBody.c',
    floor: 0.7,
    aim: 1,
    rule: { relative: 1e-4, absolute: 0.5, why: `the card's reciprocal root is cut; ${FUSING}` },
  },
  {
    name: 'waves 2^20',
    launch: `${OWN}/waves.json`,
    twin: 'waves.c',
    floor: 0.7,
    aim: 1,
    rule: { relative: 1e-3, absolute: 1e-3, why: "the card's sine has an absolute error of 2^-21 a wave" },
  },
  {
    name: 'philox 2^21',
    launch: `${OWN}/philox.json`,
    twin: 'philox.c',
    floor: 0.7,
    aim: 1,
    rule: 'exact',
  },
  {
    name: 'gemm_f16 512 by mma',
    launch: `${OWN}/mmaHalf.json`,
    twin: 'mmaHalf.c',
    floor: 0.25,
    aim: 0.7,
    rule: bound(1e-3, 'tensor cores cut what they add, C rounds each sum'),
  },
  {
    name: 'attention_f16 4x512x64',
    launch: `${OWN}/flashForward.json`,
    twin: 'flashForward.c',
    floor: 0.15,
    aim: 0.4,
    rule: bound(2e-3, 'weights are rounded to f16 before they meet the values'),
  },
];

/** What a kernel is called on the command line: `saxpy` of `saxpy 2^24`. */
export function partName({ name }: BenchKernel): string {
  return name.split(' ', 1)[0] ?? name;
}

/** @throws Error when there is no such kernel. */
export function requireKernels(names: readonly string[]): void {
  const known = BENCH_KERNELS.map(partName);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`'${unknown}' is no kernel of the bench, only ${known.join(', ')}`);
}
