import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { scalarOperation } from './arithmetic/index.js';
import { NOTHING_LEFT_OUT } from './compiler/index.js';
import { loadModule, NodeMemory, WasmExecutor } from './index.js';
import { mix } from './tests/operandMix.js';
import { packParams } from './tests/referenceLaunch.js';

const COUNT = 4096;

const text = (form: string): string => `
.version 8.0
.target sm_80
.address_size 64
.visible .entry fused(.param .u64 in, .param .u64 out)
{
  .reg .f32 %f<5>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.s32 %r2, %r0, 128, %r1;
  mul.wide.u32 %rd2, %r2, 12;
  add.s64 %rd3, %rd0, %rd2;
  ld.global.f32 %f0, [%rd3];
  ld.global.f32 %f1, [%rd3+4];
  ld.global.f32 %f2, [%rd3+8];
  ${form} %f3, %f0, %f1, %f2;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd1, %rd4;
  st.global.f32 [%rd5], %f3;
  ret;
}`;

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

function bitsOf(value: number): number {
  single[0] = value;
  return Number.isNaN(value) ? 0x7fffffff : (bits[0] ?? 0);
}

/** Triples of all kinds, and sums near the least normal number, where flushing looks at what rounding hides. */
function operands(): Float32Array {
  const words = mix(COUNT * 3);
  const found = new Float32Array(words.buffer);
  for (let index = 0; index < COUNT; index += 2) {
    const steps = (words[index * 3] ?? 0) % 7;
    found[index * 3] = 2 ** -63 * (1 + steps * 2 ** -23);
    found[index * 3 + 1] = (index % 4 === 0 ? 1 : -1) * 2 ** -63 * (1 - ((index >> 2) % 5) * 2 ** -24);
    found[index * 3 + 2] = ((index >> 3) % 9) * 2 ** -149 * (index % 16 < 8 ? 1 : -1);
  }
  return found;
}

function run(form: string, without: typeof NOTHING_LEFT_OUT): Uint32Array {
  const memory = new NodeMemory({ backingBytes: 8 * 2 ** 20 });
  const space = memory.createSpace();
  const input = operands();
  const from = space.map(input.byteLength, 'readWrite').virtualAddress;
  const to = space.map(COUNT * 4, 'readWrite').virtualAddress;
  space.view(from, input.byteLength).set(new Uint8Array(input.buffer));
  const module = loadModule(parseModule(text(form), 'fused.ptx'), space);
  const kernel = module.ir.functions[0];
  if (kernel === undefined) throw new Error('no kernel');
  const blocks = COUNT / 128;
  const shape = { grid: [blocks, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0 } as const;
  const outcome = new WasmExecutor(memory, { vectorAfter: 0, without }).run(
    { module, kernel, shape, params: packParams(kernel, [from, to]) },
    { lo: 0, hi: blocks },
    'fast',
    1e6,
  );
  expect(outcome.status).toBe('done');
  return new Uint32Array(Uint8Array.from(space.view(to, COUNT * 4)).buffer);
}

function defined(form: string): Uint32Array {
  const instruction = parseModule(text(form), 'fused.ptx').functions[0]?.instructions.find(
    ({ opcode }) => opcode === 'fma',
  );
  const operation = instruction === undefined ? undefined : scalarOperation(instruction);
  if (operation === undefined) throw new Error(`no meaning of ${form}`);
  const input = operands();
  return Uint32Array.from({ length: COUNT }, (_, index) =>
    bitsOf(Number(operation.apply(...input.subarray(index * 3, index * 3 + 3)))),
  );
}

describe('fma.f32 as the definitions have it', () => {
  const forms = ['fma.rn.f32', 'fma.rn.ftz.f32', 'fma.rn.sat.f32', 'fma.rn.ftz.sat.f32'];
  it.each(forms)('%s', (form) => {
    const expected = defined(form);
    expect(run(form, NOTHING_LEFT_OUT)).toEqual(expected);
    expect(run(form, new Set(['fusedMultiplyAdd']))).toEqual(expected);
  });
});
