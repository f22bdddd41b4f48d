import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import type { VectorForm } from '../laboratory/instructions/index.js';
import {
  allForms,
  cellForms,
  digestOf,
  firstCases,
  operandsOf,
  probeModule,
  readMeasured,
  samplesOf,
  threadsPerBlock,
} from '../laboratory/instructions/index.js';
import { loadModule, NodeMemory, ReferenceInterpreter, WasmExecutor, type Executor } from './index.js';
import { sampleOf } from '../laboratory/testSample/index.js';
import { packParams } from './tests/referenceLaunch.js';

const measured = readMeasured();

/** Runs the kernel of one form over its first cases, as the card did. */
class VectorBench {
  private readonly memory = new NodeMemory({ backingBytes: 16 * 2 ** 20 });
  private readonly space = this.memory.createSpace();
  private readonly in = this.space.map(firstCases * 64, 'readWrite').virtualAddress;
  private readonly out = this.space.map(firstCases * 64, 'readWrite').virtualAddress;
  private readonly executor: Pick<Executor, 'run'>;

  constructor(makeExecutor: (memory: NodeMemory) => Pick<Executor, 'run'>) {
    this.executor = makeExecutor(this.memory);
  }

  results(form: VectorForm): BigUint64Array {
    const operands = operandsOf(form).subarray(0, firstCases * form.sources.length);
    this.space
      .view(this.in, operands.byteLength)
      .set(new Uint8Array(operands.buffer, operands.byteOffset, operands.byteLength));
    const module = loadModule(parseModule(probeModule([form]), form.name), this.space);
    const kernel = module.ir.functions[0];
    if (kernel === undefined) throw new Error('no kernel');
    if (kernel.refusal !== undefined) throw new Error(`${form.name}: ${kernel.refusal.reason}`);
    const blocks = firstCases / threadsPerBlock;
    const shape = { grid: [blocks, 1, 1], block: [threadsPerBlock, 1, 1], dynamicSharedBytes: 0 } as const;
    const params = packParams(kernel, [this.in, this.out, firstCases]);
    const outcome = this.executor.run({ module, kernel, shape, params }, { lo: 0, hi: blocks }, 'fast', 1e6);
    if (outcome.status !== 'done') throw new Error(`${form.name}: ${JSON.stringify(outcome)}`);
    for (const address of module.symbols.values()) this.space.unmap(address);
    const bytes = Uint8Array.from(this.space.view(this.out, firstCases * form.results.length * 8));
    return new BigUint64Array(bytes.buffer);
  }
}

function holds(bench: VectorBench, form: VectorForm): void {
  const expected = measured.results[form.name];
  const results = bench.results(form);
  expect(samplesOf(results, form.results.length)).toBe(expected?.samples);
  expect(digestOf(results)).toBe(expected?.firstDigest);
}

const named = (forms: readonly VectorForm[]) => forms.map((form) => [form.name, form] as const);

describe('compiled instructions against a real card', () => {
  const bench = new VectorBench((memory) => new WasmExecutor(memory, { vectorAfter: 0 }));
  // Each form is compiled twice; the next is most often its neighbour in type or rounding.
  it.each(named(sampleOf(allForms, 8)))('%s', (_, form) => holds(bench, form));
});

describe('fused multiply-adds against a real card where the machine has none', () => {
  const without = new Set(['fusedMultiplyAdd'] as const);
  const bench = new VectorBench((memory) => new WasmExecutor(memory, { vectorAfter: 0, without }));
  it.each(named(allForms.filter(({ name }) => /^(?:fma|mad)\b.*f(?:32|64)/.test(name))))('%s', (_, form) =>
    holds(bench, form),
  );
});

describe('the interpreter’s memory against a real card', () => {
  const bench = new VectorBench(() => new ReferenceInterpreter());
  it.each(named(cellForms))('%s', (_, form) => holds(bench, form));
});
