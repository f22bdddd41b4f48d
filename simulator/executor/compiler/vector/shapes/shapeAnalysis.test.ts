import { describe, expect, it } from 'vitest';
import { parseModule } from '../../../../ptx/index.js';
import { analyseShapes } from './shapeAnalysis.js';

/** Shape of each register that a body writes: `=`, `+stride` or `?`, with a `!` where it holds only while no lane wraps. */
function shapesOf(body: string, hasLocal = false): Record<string, string> {
  const ir = parseModule(
    `.version 9.0
.target sm_90
.address_size 64
.visible .entry shapes(.param .u64 p, .param .u32 n)
{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
.local .b32 own[4];
${body}
ret;
}
`,
    'shapes.ptx',
  );
  const [fn] = ir.functions;
  if (fn === undefined) throw new Error('no function');
  const { shapes, resultOf } = analyseShapes(fn, {
    masked: { kept: new Set(), unchecked: new Set() },
    startAsZero: [],
    exchanges: new Set(fn.instructions.filter(({ opcode }) => opcode === 'shfl').map(({ index }) => index)),
    hasLocal,
    followsUniform: true,
    followsAffine: true,
  });
  const found: Record<string, string> = {};
  for (const instruction of fn.instructions) {
    for (const destination of instruction.destinations) {
      if (destination.kind !== 'register') continue;
      const shape = shapes[destination.register];
      const text = shape?.kind === 'affine' ? `+${shape.stride}` : shape?.kind === 'uniform' ? '=' : '?';
      const isChecked = resultOf(instruction).checked !== undefined && text !== '?';
      found[fn.registers[destination.register]?.name ?? ''] = isChecked ? `${text}!` : text;
    }
  }
  return found;
}

describe('shapes of registers over the lanes of a chunk', () => {
  it('follows the thread index through linear arithmetic', () => {
    expect(
      shapesOf(`mov.u32 %r0, %tid.x;
        mov.u32 %r1, %ctaid.x;
        mad.lo.s32 %r2, %r1, 256, %r0;
        shl.b32 %r3, %r2, 2;
        sub.s32 %r4, %r1, %r3;
        mul.lo.s32 %r5, %r2, -3;
        mul.wide.s32 %rd0, %r2, 4;
        ld.param.u64 %rd1, [p];
        add.s64 %rd2, %rd1, %rd0;`),
    ).toEqual({
      '%r0': '+1',
      '%r1': '=',
      '%r2': '+1',
      '%r3': '+4',
      '%r4': '+-4',
      '%r5': '+-3',
      '%rd0': '+4!',
      '%rd1': '=',
      '%rd2': '+4',
    });
  });

  it('meets what several instructions write', () => {
    expect(
      shapesOf(`mov.u32 %r0, %tid.x;
        mov.u32 %r1, 0;
        LOOP:
        add.s32 %r0, %r0, 32;
        add.s32 %r1, %r1, 1;
        mov.u32 %r2, %r0;
        setp.lt.s32 %p0, %r1, 10;
        @%p0 bra LOOP;
        mov.u32 %r2, 7;`),
    ).toEqual({ '%r0': '+1', '%r1': '=', '%r2': '?', '%p0': '=' });
  });

  it('takes what is not linear, of another width or only for some lanes as varying', () => {
    expect(
      shapesOf(`mov.u32 %r0, %tid.x;
        mul.lo.s32 %r1, %r0, %r0;
        xor.b32 %r2, %r0, 1;
        cvt.u16.u32 %h0, %r0;
        mul.wide.u32 %rd0, %r0, -858993459;
        setp.lt.s32 %p0, %r0, 5;
        mov.u32 %r3, 1;
        @%p0 mov.u32 %r3, 2;
        ld.param.u32 %r4, [n];
        mul.lo.s32 %r5, %r0, %r4;`),
    ).toEqual({
      '%r0': '+1',
      '%r1': '?',
      '%r2': '?',
      '%h0': '?',
      '%rd0': '?',
      '%p0': '?',
      '%r3': '?',
      '%r4': '=',
      '%r5': '?',
    });
  });

  it('takes loads of one address as uniform unless each thread has memory of its own there', () => {
    const body = `ld.param.u64 %rd0, [p];
      ld.global.u32 %r0, [%rd0];
      ld.u32 %r1, [%rd0];
      ld.local.u32 %r2, [own];
      atom.global.add.u32 %r3, [%rd0], 1;
      shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;`;
    const common = { '%rd0': '=', '%r0': '=', '%r2': '?', '%r3': '?', '%r4': '?' };
    expect(shapesOf(body)).toEqual({ ...common, '%r1': '=' });
    expect(shapesOf(body, true)).toEqual({ ...common, '%r1': '?' });
  });
});
