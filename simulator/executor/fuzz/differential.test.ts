import { describe, expect, it } from 'vitest';
import { WasmExecutor } from '../index.js';
import { ReferenceInterpreter } from '../interpreter/index.js';
import type { RunResult } from '../types.js';
import { describeCase, FuzzBench, generateKernel } from './index.js';

const fuel = 10_000_000;
const seeds = 300;
const seedsPerTest = 25;

const exactCounters = [
  'threadInstructions',
  'globalLoadBytes',
  'globalStoreBytes',
  'sharedBytes',
  'blocks',
] as const;

/** First bytes that differ between two runs, or nothing. */
function firstDifference(a: FuzzBench, b: FuzzBench): string | undefined {
  const [left, right] = [a.contents(), b.contents()];
  if (left.length !== right.length) return `${left.length} segments and ${right.length}`;
  for (const [index, { address, bytes }] of left.entries()) {
    const other = right[index]?.bytes ?? new Uint8Array();
    const at = bytes.findIndex((byte, offset) => byte !== other[offset]);
    if (at < 0 && bytes.length === other.length) continue;
    const show = (from: Uint8Array) => Buffer.from(from.subarray(at & ~7, (at & ~7) + 8)).toString('hex');
    return `segment ${index} at 0x${address.toString(16)} + ${at}: interpreter ${show(bytes)}, compiled ${show(other)}`;
  }
  return undefined;
}

function outcome(result: RunResult): string {
  return result.status === 'fault' ? `fault ${result.fault.code}: ${result.fault.message}` : result.status;
}

/** Runs one seed both ways. @returns what differs, with the kernel, or nothing. */
function compare(seed: number): string | undefined {
  const fuzz = generateKernel(seed);
  const reference = new FuzzBench(fuzz);
  const compiled = new FuzzBench(fuzz);
  const range = { lo: 0, hi: reference.blocks };
  const expected = new ReferenceInterpreter().run(reference.launch, range, 'fast', fuel);
  const found = new WasmExecutor(compiled.memory).run(compiled.launch, range, 'fast', fuel);
  const differences = [
    outcome(expected) === outcome(found) ? undefined : `${outcome(expected)}; compiled ${outcome(found)}`,
    expected.status === 'done' ? undefined : 'generated kernels end without a fault',
    firstDifference(reference, compiled),
    // Compiled code counts warp instructions by estimate where lanes part, so those are not compared.
    ...exactCounters.map((name) =>
      expected.counters[name] === found.counters[name]
        ? undefined
        : `${name} ${expected.counters[name]}; compiled ${found.counters[name]}`,
    ),
  ].filter((each) => each !== undefined);
  return differences.length === 0 ? undefined : `${differences.join('\n')}\n${describeCase(fuzz)}`;
}

describe('compiled code against the reference interpreter', () => {
  const starts = Array.from({ length: seeds / seedsPerTest }, (_, index) => 1 + index * seedsPerTest);

  it.each(starts)(`seeds from %i: same memory, same counts`, (start) => {
    for (let seed = start; seed < start + seedsPerTest; seed++) {
      const difference = compare(seed);
      if (difference !== undefined) expect.fail(difference);
    }
  });
});
