import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { ReferenceInterpreter } from '../../executor/index.js';
import { FuzzBench, generateKernel, shrinkCase } from './index.js';

const seeds = Array.from({ length: 30 }, (_, index) => 1001 + index);

function contents(bench: FuzzBench): string[] {
  return bench.contents().map(({ bytes }) => Buffer.from(bytes).toString('base64'));
}

describe('a kernel that fails', () => {
  it('shrinks to what it fails by', () => {
    const fuzz = generateKernel(3, { generation: 2 });
    const small = shrinkCase(fuzz, ({ text }) => text.includes('mov.u32 %field, 0;') && text.endsWith('}\n'));
    const body = small.text.slice(small.text.indexOf('{\n', small.text.indexOf('.func')));
    expect(body.split('\n').filter((line) => line.trim() !== '')).toEqual(['{', '\tmov.u32 %field, 0;', '}']);
  });
});

describe('random kernels', () => {
  it('come out the same from the same seed and differ between seeds', () => {
    expect(generateKernel(7)).toEqual(generateKernel(7));
    expect(new Set(seeds.map((seed) => generateKernel(seed).text)).size).toBe(seeds.length);
  });

  it.each([1, 2] as const)('hold only supported instructions (generation %i)', (generation) => {
    for (const seed of seeds) {
      const { functions } = parseModule(generateKernel(seed, { generation }).text, `fuzz-${seed}.ptx`);
      expect(functions.filter((fn) => fn.refusal !== undefined).map((fn) => fn.refusal)).toEqual([]);
    }
  });

  it.each([
    [1, 'atom red bar barrier shfl vote match redux exit cvt prmt dp4a fma ex2 bfi cvta selp'],
    [
      2,
      'addc subc madc brx call cp elect fence membar nanosleep isspacep vadd vsub4 vset2 vmad fns set tanh lop3',
    ],
  ] as const)('together use every part of the machine (generation %i)', (generation, wanted) => {
    const opcodes = new Set<string>();
    const isMissing = (opcode: string): boolean => !opcodes.has(opcode);
    for (let seed = 1; seed <= 200 && wanted.split(' ').some(isMissing); seed++) {
      const { functions } = parseModule(generateKernel(seed, { generation }).text, `fuzz-${seed}.ptx`);
      for (const fn of functions) for (const instruction of fn.instructions) opcodes.add(instruction.opcode);
    }
    expect(wanted.split(' ').filter(isMissing)).toEqual([]);
  });

  it.each([
    [1, false],
    [2, false],
    [2, true],
  ] as const)('leave the same memory in every order of blocks and warps (%i, %s)', (generation, together) => {
    for (const seed of seeds.slice(0, together ? 5 : 12)) {
      const fuzz = generateKernel(seed, { generation, together });
      const forward = new FuzzBench(fuzz);
      const backward = new FuzzBench(fuzz);
      const blocks = Array.from({ length: forward.blocks }, (_, block) => block);
      const first = new ReferenceInterpreter().runBlocks(forward.launch, blocks, 10_000_000);
      const options = { turn: 1, reversedWarps: true };
      const second = new ReferenceInterpreter(options).runBlocks(
        backward.launch,
        blocks.reverse(),
        10_000_000,
      );
      expect([first.status, second.status], `seed ${seed}`).toEqual(['done', 'done']);
      expect(contents(backward), `seed ${seed}`).toEqual(contents(forward));
    }
  });
});
