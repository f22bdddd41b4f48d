import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { loadModule, NodeMemory, ReferenceInterpreter, WasmExecutor } from './index.js';

const BLOCKS = 64;
const THREADS = BLOCKS * 256;

/** Bits that a thread takes: a sweep of all exponents, or neighbours of a number, in which most lanes are alike. */
const operands: readonly (readonly [what: string, step: number, from: number])[] = [
  ['all exponents', 262_147, 0],
  ['around one', 1, 0x3f800000 - 8192],
  ['around the least normal number', 1, 0x00800000 - 8192],
  ['around infinity', 1, 0x7f800000 - 8192],
  ['negative', 4099, 0x80000000],
  ['angles', 2053, 0x3f000000],
];

const instructions = ['rsqrt', 'sqrt', 'rcp', 'ex2', 'lg2', 'sin', 'cos'].flatMap((opcode) => [
  `${opcode}.approx.f32`,
  `${opcode}.approx.ftz.f32`,
]);

function run(instruction: string, step: number, from: number, isCompiled: boolean): Int32Array {
  const text = `.version 9.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 out, .param .u32 step, .param .u32 start) {
.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [step]; ld.param.u32 %r6, [start];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
mad.lo.u32 %r4, %r3, 256, %r2; mad.lo.u32 %r5, %r4, %r1, %r6;
mov.b32 %f1, %r5; ${instruction} %f2, %f1;
mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f2; ret; }`;
  const memory = new NodeMemory({ backingBytes: 16 << 20 });
  const space = memory.createSpace();
  const { virtualAddress } = space.map(4 * THREADS, 'readWrite');
  const module = loadModule(parseModule(text, 'lanes.ptx'), space);
  const [kernel] = module.ir.functions;
  if (kernel === undefined) throw new Error('no kernel');
  const params = new Uint8Array(16);
  const view = new DataView(params.buffer);
  view.setBigUint64(0, BigInt(virtualAddress), true);
  view.setUint32(8, step, true);
  view.setUint32(12, from, true);
  const shape = { grid: [BLOCKS, 1, 1], block: [256, 1, 1], dynamicSharedBytes: 0 } as const;
  const runner = isCompiled ? new WasmExecutor(memory, { vectorAfter: 0 }) : new ReferenceInterpreter();
  const range = { lo: 0, hi: BLOCKS };
  const result = runner.run({ module, kernel, shape, params }, range, 'fast', 1_000_000);
  expect(result.status).toBe('done');
  return new Int32Array(space.view(virtualAddress, 4 * THREADS).slice().buffer);
}

describe('functions of the special function unit, 32 lanes at once', () => {
  it.each(instructions)('%s has the bits of its definition', (instruction) => {
    for (const [what, step, from] of operands) {
      const [lanes, defined] = [true, false].map((isCompiled) => run(instruction, step, from, isCompiled));
      const at = lanes?.findIndex((bits, index) => bits !== defined?.[index]) ?? -1;
      expect([what, at, lanes?.[at]]).toEqual([what, -1, undefined]);
    }
  });
});
