import { afterEach, describe, expect, it, vi } from 'vitest';
import { CompileError } from '../compiler/index.js';
import type { RunResult, WantedCode, WasmExecutor } from '../index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from '../tests/launchBench.js';
import { KernelCache } from './kernelCache.js';

const BLOCKS = 9;
const THREADS = 64;
const grid: KernelLaunch = { grid: [BLOCKS, 1, 1], block: [THREADS, 1, 1] };

const plain = 'mul.lo.u32 %r9, %r1, 3;';
/** Threads meet, so that the driver runs blocks. */
const meeting = `mov.u32 %r3, %ctaid.x; add.u32 %r3, %r3, %r1; bar.sync 0;
  shfl.sync.bfly.b32 %r9, %r3, 1, 31, -1;`;
/** Threads of block 6 store far outside. */
const faulting = `mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 6; @%p1 bra OK;
  mul.wide.u32 %rd1, %r1, 4; st.global.u32 [%rd1], %r1;
  OK: mov.u32 %r9, 7;`;

interface Outcome {
  readonly result: RunResult;
  readonly words: readonly number[];
  /** Groups of four lanes in each form that was made. */
  readonly forms: readonly number[];
}

function formsOf(executor: WasmExecutor): number[] {
  return executor.preparedKernels().map(({ kernel }) => kernel.groups);
}

function outcome(body: string, vectorAfter: number): Outcome {
  const bench = new LaunchBench({ vectorAfter });
  const out = bench.buffer(BLOCKS * THREADS);
  const result = bench.run(storingKernel(body), { ...grid, values: [out] });
  return { result, words: bench.words(out, BLOCKS * THREADS), forms: formsOf(bench.executor) };
}

const perBlock = (body: string): number => outcome(body, 0).result.counters.threadInstructions / BLOCKS;

describe('a launch that goes on in other code', () => {
  it.each([
    ['threads that never meet', plain],
    ['threads that meet', meeting],
  ])('leaves what one kind of code leaves: %s', (_, body) => {
    const [together, switched, apart] = [0, 1, 1e9].map((after) => outcome(body, after));
    expect(together?.forms).toEqual([expect.any(Number)]);
    expect(together?.forms).not.toEqual([0]);
    expect(switched?.forms).toEqual([0, ...(together?.forms ?? [])]);
    expect(apart?.forms).toEqual([0]);
    for (const each of [switched, apart]) {
      expect(each?.result).toEqual(together?.result);
      expect(each?.words).toEqual(together?.words);
    }
  });

  it('tells the block of a fault, and counts up to it, as one kind of code does', () => {
    const [together, switched] = [0, 1].map((after) => outcome(faulting, after));
    expect(switched?.forms.length).toBe(2);
    expect(together?.result).toMatchObject({ status: 'fault', fault: { block: [6, 0, 0] } });
    expect(switched?.result).toMatchObject({
      status: 'fault',
      fault: { block: [6, 0, 0], thread: [0, 0, 0] },
      counters: { blocks: 6 },
    });
  });

  it('does so as soon as the blocks to come are seen to be enough', () => {
    const cost = perBlock(plain);
    expect(outcome(plain, BLOCKS * cost).forms.length).toBe(2);
    expect(outcome(plain, BLOCKS * cost + 1).forms).toEqual([0]);
  });

  it('counts what earlier launches have executed', () => {
    const cost = perBlock(plain);
    const bench = new LaunchBench({ vectorAfter: 2.5 * BLOCKS * cost });
    const values = [bench.buffer(BLOCKS * THREADS)];
    const { launch, range } = bench.place(storingKernel(plain), { ...grid, values });
    const forms = [1, 2, 3].map(() => {
      bench.executor.run(launch, range, 'fast', 1e6);
      return formsOf(bench.executor).length;
    });
    expect(forms).toEqual([1, 1, 2]);
  });

  it('counts each instruction once', () => {
    const counts = [0, 1].map((vectorAfter) => {
      const bench = new LaunchBench({ vectorAfter });
      const values = [bench.buffer(BLOCKS * THREADS)];
      const { launch, range } = bench.place(storingKernel(plain), { ...grid, values });
      const { length } = launch.kernel.instructions;
      const counted = { threads: new Float64Array(length), warps: new Float64Array(length) };
      bench.executor.runCounted(launch, range, 1e6, counted);
      return counted;
    });
    expect(counts[1]).toEqual(counts[0]);
  });
});

it('makes one kind of code for kernels whose threads the order shows of', () => {
  const ordered = 'atom.global.add.u32 %r9, [%rd0], 1;';
  expect(outcome(ordered, 1).forms).toEqual([0]);
});

describe('a kernel that cannot be made in code for lanes together', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** @returns how often it has been asked for lanes together since */
  function failTogether(error: Error): () => number {
    const get = Reflect.get(KernelCache.prototype, 'get');
    let asked = 0;
    vi.spyOn(KernelCache.prototype, 'get').mockImplementation(function (this: KernelCache, ir, fn, form) {
      if ((form?.groups ?? 0) === 0) return get.call(this, ir, fn, form);
      asked += 1;
      throw error;
    });
    return () => asked;
  }

  it.each([
    ['for its size', new CompileError('tooLarge', 'too many locals', 1)],
    ['for a fault of the compiler', new RangeError('register %r1 is a scalar here')],
  ])('goes on lane after lane, and is not made again: %s', (_, error) => {
    const apart = outcome(meeting, 1e9);
    const asked = failTogether(error);
    for (const vectorAfter of [0, 1]) {
      const { result, words, forms } = outcome(meeting, vectorAfter);
      expect(result).toEqual(apart.result);
      expect(words).toEqual(apart.words);
      expect(forms).toEqual([0]);
    }
    expect(asked()).toBe(2);
    const bench = new LaunchBench();
    const values = [bench.buffer(BLOCKS * THREADS)];
    const { launch, range } = bench.place(storingKernel(meeting), { ...grid, values });
    for (let time = 0; time < 3; time++) bench.executor.run(launch, range, 'fast', 1e6);
    expect(asked()).toBe(3);
  });

  it('shows tests that ask for lanes together what was wrong, and everyone what is no fault of the compiler', () => {
    failTogether(new RangeError('register %r1 is a scalar here'));
    const values = [0];
    const run = (options: object): unknown => {
      const bench = new LaunchBench(options);
      return bench.run(storingKernel(plain), { ...grid, values });
    };
    expect(() => run({ alwaysTogether: true })).toThrow('is a scalar here');
    vi.restoreAllMocks();
    failTogether(new TypeError('cannot read a register'));
    expect(() => run({})).toThrow('cannot read a register');
  });
});

describe('with another thread that makes code', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Its own text each time: what one test has made is there for the next. */
  const kernelOf = (times: number): string => storingKernel(`mul.lo.u32 %r9, %r1, ${times};`);

  function asking(isThere = true): { readonly bench: LaunchBench; readonly wanted: WantedCode[] } {
    const wanted: WantedCode[] = [];
    const maker = { isThere, ask: (code: WantedCode) => wanted.push(code) };
    return { bench: new LaunchBench({ vectorAfter: 1, maker }), wanted };
  }

  function runsOf(bench: LaunchBench, text: string): () => number[] {
    const values = [bench.buffer(BLOCKS * THREADS)];
    const { launch, range } = bench.place(text, { ...grid, values });
    return () => {
      bench.executor.run(launch, range, 'fast', 1e6);
      return formsOf(bench.executor);
    };
  }

  it('launches go on in the code that there is, ask once, and compile nothing', () => {
    const { bench, wanted } = asking();
    const run = runsOf(bench, kernelOf(5));
    expect(run()).toEqual([0]);
    const compiled = vi.spyOn(WebAssembly, 'Module');
    for (let time = 0; time < 3; time++) expect(run()).toEqual([0]);
    expect(wanted.map(({ form }) => form.groups)).toEqual([8]);
    expect(compiled).not.toHaveBeenCalled();
    const other = new LaunchBench({ vectorAfter: 1e9 });
    runsOf(other, kernelOf(5))();
    const [code] = wanted;
    expect(code === undefined ? undefined : other.executor.prepare(code)?.kernel.groups).toBe(8);
    compiled.mockClear();
    expect(run()).toEqual([0, 8]);
    expect(compiled).not.toHaveBeenCalled();
  });

  it('launches make it themselves when that thread is gone', () => {
    const { bench, wanted } = asking(false);
    expect(runsOf(bench, kernelOf(7))()).toEqual([0, 8]);
    expect(wanted).toEqual([]);
  });

  it('a thread that does not know the kernel makes nothing', () => {
    const { bench, wanted } = asking();
    runsOf(bench, kernelOf(11))();
    const [code] = wanted;
    expect(code === undefined ? 0 : new LaunchBench().executor.prepare(code)).toBeUndefined();
  });

  it('a launch is shared among threads once their code has come', () => {
    const wanted: WantedCode[] = [];
    const maker = { isThere: true, ask: (code: WantedCode) => wanted.push(code) };
    const bench = new LaunchBench({ maker, threads: 2, parallel: { eager: true } });
    const run = runsOf(bench, kernelOf(13));
    for (let time = 0; time < 2; time++) run();
    expect(bench.executor.sharedLaunches).toBe(0);
    expect(wanted.map(({ form }) => form)).toEqual([{ groups: 8, threaded: true }]);
    for (const code of wanted) bench.executor.prepare(code);
    run();
    expect(bench.executor.sharedLaunches).toBe(1);
    bench.executor.close();
  });
});
