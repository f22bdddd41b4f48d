import { readFileSync } from 'node:fs';
import { CHECKERS, checkSpec } from '../../checker/index.js';
import {
  NodeMemory,
  ReferenceInterpreter,
  WasmExecutor,
  type Executor,
  type ExecutorVariant,
} from '../../executor/index.js';
import { compileKernel, type CodeForm } from '../../executor/testing/index.js';
import { packageRoot } from '../../files/index.js';
import { estimateRegisters, profileNamed } from '../../gpu/index.js';
import { instructionPlans } from '../../gpu/testing/index.js';
import { analyzeKernel } from '../../idempotency/index.js';
import {
  codeShape,
  lowerModule,
  parseModule,
  printModule,
  registerPressure,
  type IrFunction,
  type IrModule,
} from '../../ptx/index.js';
import {
  calibrate,
  largestBuffer,
  MEASURED_SETS,
  measuredSet,
  type MeasuredLaunch,
} from '../calibration/index.js';
import { FuzzBench, type FuzzCase } from '../fuzz/index.js';
import {
  FIXTURE_BACKING_BYTES,
  kernelFixtures,
  PlacedFixture,
  type KernelFixture,
} from '../kernels/index.js';
import { digestOf, digestOfCall } from './digest.js';
import { fuzzCases, modules } from './texts.js';

/** How much of what there is is digested. */
export interface Extent {
  /** Every so many bodies of the corpora of verdicts, and forms of instructions. */
  readonly oneIn: number;
  readonly seeds: number;
  /** Launches with larger buffers are left out: a power of 2, in elements. */
  readonly largest: number;
}

/** One line: what it is about, then digests. */
export type Lines = Generator<string>;

/** Forms of code, by the letters that lines call them. */
const FORMS: Readonly<Record<string, CodeForm>> = {
  fast: {},
  chunks: { groups: 8 },
  together: { groups: 8, alwaysTogether: true },
  narrow: { groups: 2, alwaysTogether: true },
  observed: { observed: true },
  resumable: { resumable: true },
  threaded: { threaded: true, groups: 8 },
};

const PAGES = 65_536;

/** Of every text: the module as read and lowered; of its kernels the code in all forms, machine code, and verdict. */
function* code({ oneIn }: Extent): Lines {
  const card = profileNamed('h200');
  for (const { name, module } of modules(oneIn)) {
    yield `text ${name} ${digestOf(module)} ${digestOfCall(() => printModule(module))}`;
    const lowered = lowerModule(module);
    yield `lowered ${name} ${digestOf(lowered)}`;
    for (const fn of lowered.functions) {
      if (!fn.isEntry) continue;
      const of = `${name} ${fn.name}`;
      const codes = Object.entries(FORMS).map(
        ([form, each]) =>
          `${form}:${digestOfCall(() => compiled(() => compileKernel(lowered, fn, PAGES, each)))}`,
      );
      yield `code ${of} ${codes.join(' ')}`;
      yield `machine ${of} ${digestOfCall(() => machineOf(fn))}`;
      yield `registers ${of} ${digestOfCall(() => estimateRegisters(fn, card, 256))}`;
    }
  }

  function machineOf(fn: IrFunction): unknown {
    return [instructionPlans(fn, card.timing.latency), codeShape(fn, true), registerPressure(fn)];
  }
}

/** Code and what is known of it; functions aside. */
function compiled(compile: () => ReturnType<typeof compileKernel>): unknown {
  const { bytes, imports, ...rest } = compile();
  return [bytes, Object.keys(imports), rest];
}

function* verdicts({ oneIn }: Extent): Lines {
  for (const { name, module } of modules(oneIn)) {
    if (name.startsWith('form ')) continue;
    for (const fn of module.functions.filter(({ isEntry }) => isEntry))
      yield `verdict ${name} ${fn.name} ${digestOfCall(() => analyzeKernel(module, fn.name))}`;
  }
}

/** Programs of the laboratory in every variant: what they leave, print and count. */
function* runs(): Lines {
  for (const fixture of kernelFixtures) {
    // Compiled code lies apart from the PTX, which is where the sources are.
    const path = fixture.ptx.pathname.replace('/dist/simulator/', '/simulator/');
    const ir = parseModule(readFileSync(path, 'utf8'), fixture.name);
    for (const variant of [...VARIANTS, 'interpreter'] as const)
      yield `run ${fixture.name} ${variant} ${digestOfCall(() => leftAndCounted(fixture, ir, variant))}`;
  }
}

const VARIANTS = ['fast', 'observed', 'resumable'] as const;
const FUEL = 50_000_000;

function leftAndCounted(
  fixture: KernelFixture,
  ir: IrModule,
  variant: ExecutorVariant | 'interpreter',
): unknown {
  const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
  const placed = new PlacedFixture(fixture, memory.createSpace());
  const executor: Pick<Executor, 'run' | 'resume'> =
    variant === 'interpreter' ? new ReferenceInterpreter() : new WasmExecutor(memory, { vectorAfter: 0 });
  const results = placed.launches(ir).map((launch) => {
    const [x, y, z] = launch.shape.grid;
    const range = { lo: 0, hi: x * y * z };
    const result = executor.run(launch, range, variant === 'interpreter' ? 'fast' : variant, FUEL);
    return [result.status, result.counters, result.printed];
  });
  return [placed.read(), results];
}

/** Random kernels: text, output and counters of the interpreter and of compiled code, in both manners. */
function* fuzz({ seeds }: Extent): Lines {
  for (const each of fuzzCases(seeds)) {
    const ways = ['interpreter', 'scalar', 'together'].map((way) => digestOfCall(() => fuzzed(each, way)));
    yield `fuzz ${each.seed} ${digestOf(each.text)} ${ways.join(' ')}`;
  }
}

function fuzzed(fuzzCase: FuzzCase, way: string): unknown {
  const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
  const bench = new FuzzBench(fuzzCase, memory);
  const executor =
    way === 'interpreter'
      ? new ReferenceInterpreter()
      : new WasmExecutor(memory, way === 'together' ? { alwaysTogether: true, vectorAfter: 0 } : {});
  const { status, counters } = executor.run(bench.launch, { lo: 0, hi: bench.blocks }, 'fast', FUEL);
  return [status, bench.digest(), counters];
}

/** Thread-instructions of a block that checkers look at. */
const CHECKED_FUEL = 200_000;

/** What all checkers find at the start of the first block of every measured launch. */
function* checks({ largest }: Extent): Lines {
  for (const { name, spec, folder } of measured(largest)) {
    const options = {
      checkers: CHECKERS,
      blocks: { lo: 0, hi: 1 },
      globalRaces: true,
      fuelPerBlock: CHECKED_FUEL,
    };
    yield `check ${name} ${digestOfCall(() => checkSpec(spec, folder, options))}`;
  }
}

/** Simulated times, as they are. */
function* times({ largest }: Extent): Lines {
  for (const launch of measured(largest)) {
    for (const { name, simulatedUs, error } of calibrate([launch], {}))
      yield `time ${name} ${simulatedUs} ${(100 * error).toFixed(2)} %`;
  }
}

function measured(largest: number): MeasuredLaunch[] {
  return MEASURED_SETS.flatMap((set) => measuredSet(packageRoot(), set)).filter(
    (launch) => largestBuffer(launch) <= 2 ** largest,
  );
}

export const SECTIONS = { code, verdicts, runs, fuzz, checks, times } as const;
