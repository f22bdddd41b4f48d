import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { ReferenceInterpreter } from '../interpreter/index.js';
import { FuzzBench, generateKernel } from './index.js';

const seeds = Array.from({ length: 30 }, (_, index) => 1001 + index);

function contents(bench: FuzzBench): string[] {
  return bench.contents().map(({ bytes }) => Buffer.from(bytes).toString('base64'));
}

describe('random kernels', () => {
  it('come out the same from the same seed and differ between seeds', () => {
    expect(generateKernel(7)).toEqual(generateKernel(7));
    expect(new Set(seeds.map((seed) => generateKernel(seed).text)).size).toBe(seeds.length);
  });

  it('hold only supported instructions', () => {
    for (const seed of seeds) {
      const { functions } = parseModule(generateKernel(seed).text, `fuzz-${seed}.ptx`);
      expect(functions.map((fn) => [fn.name, fn.refusal])).toEqual([['fuzz', undefined]]);
    }
  });

  it('together use every part of the machine', () => {
    const opcodes = new Set<string>();
    for (let seed = 1; seed <= 200; seed++) {
      const { functions } = parseModule(generateKernel(seed).text, `fuzz-${seed}.ptx`);
      for (const instruction of functions[0]?.instructions ?? []) opcodes.add(instruction.opcode);
    }
    for (const opcode of 'atom red bar barrier shfl vote match redux exit cvt prmt dp4a fma ex2 bfi cvta selp'.split(
      ' ',
    )) {
      expect(opcodes, opcode).toContain(opcode);
    }
  });

  it('leave the same memory whatever the order of blocks and warps', () => {
    for (const seed of seeds) {
      const fuzz = generateKernel(seed);
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
