import {
  type BlockRange,
  type ExecutionCounters,
  NodeMemory,
  ReferenceInterpreter,
  type RunResult,
  WasmExecutor,
} from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { FuzzBench } from './fuzzBench.js';
import type { FuzzCase } from './fuzzCase.js';
import { SeededRandom } from '../../random/index.js';

const FUEL = 20_000_000;
/** Backing of a node that holds several benches of one kernel. */
const NODE_BYTES = 64 * 2 ** 20;

/** Counters that do not depend on which lanes go together. */
const exactCounters = [
  'threadInstructions',
  'globalLoadBytes',
  'globalStoreBytes',
  'sharedBytes',
  'blocks',
] as const;

/**
 * Runs one kernel in every way there is: by the interpreter and by the fast, observed and resumable variants; killed at a
 * random instruction, rolled back there and to the start, and run again; suspended again and again with another launch
 * in between.
 *
 * @returns what differs from the interpreter's run, a line each; none when all agree
 */
export function differences(fuzz: FuzzCase): string[] {
  const trial = new Trial(fuzz);
  try {
    return trial.run();
  } finally {
    trial.close();
  }
}

class Trial {
  private readonly found: string[] = [];
  private readonly memory = new NodeMemory({ backingBytes: NODE_BYTES });
  private readonly executor = new WasmExecutor(this.memory, { vectorAfter: 0 });
  private readonly together = new WasmExecutor(this.memory, { alwaysTogether: true });
  /** Its first block runs lane after lane. */
  private readonly switching = new WasmExecutor(this.memory, { alwaysTogether: true, vectorAfter: 1 });
  private readonly benches: FuzzBench[] = [];
  private readonly random: SeededRandom;
  private readonly reference: FuzzBench;
  private readonly range: BlockRange;
  private readonly ir;

  constructor(private readonly fuzz: FuzzCase) {
    this.random = new SeededRandom(~fuzz.seed);
    this.ir = parseModule(fuzz.text, `fuzz-${fuzz.seed}.ptx`);
    this.reference = this.bench();
    this.range = { lo: 0, hi: this.reference.blocks };
  }

  close(): void {
    for (const bench of this.benches) bench.close();
  }

  run(): string[] {
    const expected = new ReferenceInterpreter().run(this.reference.launch, this.range, 'fast', FUEL);
    if (expected.status !== 'done') return [`interpreter: ${outcome(expected)}`];
    const checks: (readonly [string, () => void])[] = [
      ['fast', () => this.checkFast(expected.counters)],
      ['together', () => this.checkTogether(expected.counters)],
      ['observed', () => this.checkKill(expected.counters)],
      ['resumable', () => this.checkResumable(expected.counters)],
    ];
    for (const [name, check] of checks) {
      try {
        check();
      } catch (error) {
        this.found.push(
          `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      }
    }
    return this.found;
  }

  private bench(): FuzzBench {
    const bench = new FuzzBench(this.fuzz, this.memory, this.ir);
    this.benches.push(bench);
    return bench;
  }

  private checkFast(expected: ExecutionCounters): void {
    const bench = this.bench();
    const result = this.executor.run(bench.launch, this.range, 'fast', FUEL);
    this.compareRun('fast', result, expected);
    this.compareMemory('fast', this.reference, bench);
  }

  /** Lanes of a warp run together wherever they can; warps count as where each lane runs by itself. */
  private checkTogether(expected: ExecutionCounters): void {
    const bench = this.bench();
    const result = this.together.run(bench.launch, this.range, 'fast', FUEL);
    this.compareRun('together', result, expected);
    this.compareMemory('together', this.reference, bench);
    const switched = this.bench();
    const inPart = this.switching.run(switched.launch, this.range, 'fast', FUEL);
    this.compareRun('switching', inPart, expected);
    this.compareMemory('switching', this.reference, switched);
    const apart = new WasmExecutor(this.memory, { without: new Set(['vector']) });
    const { counters } = apart.run(this.bench().launch, this.range, 'fast', FUEL);
    for (const [name, found] of [
      ['together', result],
      ['switching', inPart],
    ] as const)
      if (JSON.stringify(counters) !== JSON.stringify(found.counters))
        this.found.push(`${name}: ${JSON.stringify(found.counters)}, not ${JSON.stringify(counters)}`);
  }

  /** A journal that is rolled back to an instruction leaves what a run holds that stops there. */
  private checkKill(expected: ExecutionCounters): void {
    const blank = this.bench();
    const whole = this.bench();
    const result = this.executor.run(whole.launch, this.range, 'observed', FUEL);
    this.compareRun('observed', result, expected);
    this.compareMemory('observed', this.reference, whole);
    const { journal } = result;
    if (journal === undefined) {
      this.found.push('observed: no journal');
      return;
    }
    if (journal.positions !== expected.threadInstructions) {
      this.found.push(`journal: ${journal.positions} positions; ${expected.threadInstructions} instructions`);
    }
    const position = this.random.below(journal.positions + 1);
    const killed = this.bench();
    const stopped = this.executor.runUntil(killed.launch, this.range, position, FUEL);
    const undone = this.bench();
    this.executor.run(undone.launch, this.range, 'undoable', FUEL).journal?.rollBack(position);
    this.compareMemory(`undone from ${position} of ${journal.positions}`, killed, undone);
    journal.rollBack(position);
    this.compareMemory(`killed at ${position} of ${journal.positions}`, killed, whole);
    journal.rollBack(0);
    this.compareMemory('rolled back to the start', blank, whole);
    stopped.journal.rollBack(0);
    this.compareMemory(`stopped at ${position}, rolled back to the start`, blank, killed);
    this.compareRun('rerun', this.executor.run(whole.launch, this.range, 'fast', FUEL), expected);
    this.compareMemory('rerun', this.reference, whole);
  }

  /** Two launches of the kernel take turns, each for a random number of instructions. */
  private checkResumable(expected: ExecutionCounters): void {
    const benches = [this.bench(), this.bench()];
    const quantum = 1 + Math.ceil(expected.threadInstructions / this.range.hi / this.random.between(1, 12));
    const fuel = (): number => this.random.between(1, quantum);
    const results = benches.map(({ launch }) => this.executor.run(launch, this.range, 'resumable', fuel()));
    const sums = results.map(({ counters }) => ({ ...counters }));
    for (let turn = 0; results.some(({ status }) => status === 'yield'); turn++) {
      if (turn > 100_000) {
        this.found.push('resumable: no end');
        return;
      }
      for (const [index, result] of results.entries()) {
        if (result.status !== 'yield') continue;
        const next = this.executor.resume(result.suspended, fuel());
        results[index] = next;
        const sum = sums[index];
        if (sum !== undefined) for (const name of exactCounters) sum[name] += next.counters[name];
      }
    }
    for (const [index, bench] of benches.entries()) {
      const [result, counters] = [results[index], sums[index]];
      if (result === undefined || counters === undefined) continue;
      this.compareRun('resumable', { ...result, counters }, expected);
      this.compareMemory('resumable', this.reference, bench);
    }
  }

  private compareRun(what: string, result: RunResult, expected: ExecutionCounters): void {
    if (result.status !== 'done') this.found.push(`${what}: ${outcome(result)}`);
    // Compiled code counts warp instructions by estimate where lanes part, so those are not compared.
    for (const name of exactCounters) {
      const [right, wrong] = [expected[name], result.counters[name]];
      if (right !== wrong) this.found.push(`${what}: ${name} ${wrong}, not ${right}`);
    }
  }

  private compareMemory(what: string, expected: FuzzBench, found: FuzzBench): void {
    const difference = firstDifference(expected, found);
    if (difference !== undefined) this.found.push(`${what}: ${difference}`);
  }
}

function outcome(result: RunResult): string {
  return result.status === 'fault' ? `fault ${result.fault.code}: ${result.fault.message}` : result.status;
}

/** First bytes that differ between two benches, or nothing. */
export function firstDifference(expected: FuzzBench, found: FuzzBench): string | undefined {
  const [left, right] = [expected.contents(), found.contents()];
  if (left.length !== right.length) return `${right.length} segments, not ${left.length}`;
  for (const [index, { address, bytes }] of left.entries()) {
    const other = right[index]?.bytes ?? new Uint8Array();
    const at = bytes.findIndex((byte, offset) => byte !== other[offset]);
    if (at < 0 && bytes.length === other.length) continue;
    const show = (from: Uint8Array) => Buffer.from(from.subarray(at & ~7, (at & ~7) + 8)).toString('hex');
    return `segment ${index} at 0x${address.toString(16)} + ${at}: ${show(other)}, not ${show(bytes)}`;
  }
  return undefined;
}
