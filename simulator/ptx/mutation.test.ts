import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule, PtxParseError } from './index.js';

const kernels = new URL('../gpu/reference/kernels/', import.meta.url);
const header = '.version 9.0\n.target sm_90\n.address_size 64\n';

/** Texts that use what the kernels do not: nested scopes, calls, initialisers, debug directives. */
const dense = `${header}
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 8 .u64 p[2] = {generic(t)+8, t};
.global .align 4 .b8 t[16] = {1, 0x2, 010, 0b1, -5};
.const .f32 c[2][2] = {{0f3F800000, -2.5}, {3, 0d4010000000000000}};
.func (.param .b32 r) f (.param .align 8 .b8 s[16]) .noreturn { .reg .b32 %r<3>; ld.param.u32 %r1, [s+4]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
	.local .align 16 .b8 depot[32];
	.loc 1 10 44, function_name $L__info, inlined_at 1 5 3
	.pragma "nounroll";
	ld.global.v4.f32 {%f0, %f1, %f2, _}, [%rd1+-16];
	{ // callseq
	.param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0;
	call.uni (retval0), f, (param0);
	proto : .callprototype (.param .b32 _) _ (.param .b32 _);
	call (retval0), %rd1, (param0), proto;
	}
	ts: .branchtargets A, B;
	brx.idx %r1, ts;
A:	setp.lt.and.s32 %p1|%p2, %r1, -7, !%p0;
	@!%p1 bra B;
	tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tx, {%f0, %f1}];
B:	mov.b64 {%r1, %r2}, %rd1; mov.u32 %r3, %tid.x; mov.f32 %f1, 1.5; ret;
}
.section .debug_abbrev { .b8 1 .b64 $L__x }
`;

const sources = [
  dense,
  dense,
  ...readdirSync(kernels)
    .filter((name) => /^(saxpy|reduce|vecadd|forest)\.ptx$/.test(name))
    .map((name) => readFileSync(new URL(name, kernels), 'utf8')),
];

class Mutator {
  private readonly random;

  constructor(seed: number) {
    this.random = xoroshiro128plus(seed);
  }

  private below(count: number): number {
    return (this.random.next() >>> 0) % Math.max(count, 1);
  }

  mutate(text: string): string {
    let mutated = text;
    for (let times = 1 + this.below(3); times > 0; times--) mutated = this.once(mutated);
    return mutated;
  }

  private once(text: string): string {
    const at = this.below(text.length);
    const length = 1 + this.below(12);
    const other = this.below(text.length);
    const pieces = [
      '{',
      '}',
      '(',
      ')',
      ';',
      ',',
      '[',
      ']',
      ':',
      '%',
      '.',
      '"',
      '/*',
      '//',
      '@',
      '!',
      '<',
      '>',
      '=',
      '-',
      '0x',
      '99999999999999999999',
      '\0',
      'é',
      '.reg',
      '.param',
      '.entry',
    ];
    switch (this.below(7)) {
      case 0:
        return text.slice(0, at) + text.slice(at + length);
      case 1:
        return text.slice(0, at) + text.slice(other, other + length) + text.slice(at);
      case 2:
        return text.slice(0, at) + (pieces[this.below(pieces.length)] ?? '') + text.slice(at);
      case 3:
        return text.slice(0, at);
      case 4:
        return text.slice(0, at) + String.fromCharCode(this.below(128)) + text.slice(at + 1);
      case 5: {
        const lines = text.split('\n');
        lines.splice(this.below(lines.length), 1 + this.below(3));
        return lines.join('\n');
      }
      default: {
        const lines = text.split('\n');
        lines.splice(this.below(lines.length), 0, lines[this.below(lines.length)] ?? '');
        return lines.join('\n');
      }
    }
  }
}

describe('damaged texts', () => {
  it('parse or are refused with a place, and never crash or hang', () => {
    let refused = 0;
    let parsed = 0;
    for (let seed = 1; seed <= 4000; seed++) {
      const text = new Mutator(seed).mutate(sources[seed % sources.length] ?? '');
      try {
        const module = parseModule(text, 'damaged.ptx');
        for (const fn of module.functions) {
          expect(fn.blocks.length, `seed ${seed}`).toBeGreaterThan(0);
          expect(fn.blocks.at(-1)?.last, `seed ${seed}`).toBe(fn.instructions.length - 1);
        }
        parsed++;
      } catch (error) {
        if (!(error instanceof PtxParseError))
          throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
        expect(error.line, `seed ${seed}`).toBeGreaterThan(0);
        expect(error.expected, `seed ${seed}`).not.toBe('');
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(500);
    expect(parsed).toBeGreaterThan(100);
  });

  it('reads the undamaged texts', () => {
    for (const text of sources) expect(() => parseModule(text, 'whole.ptx')).not.toThrow();
  });

  it('is not slowed down by depth or repetition', () => {
    const deep = `${header}.entry k() { ${'{'.repeat(20_000)} ${'}'.repeat(20_000)} }`;
    expect(() => parseModule(deep, 'deep.ptx')).toThrow(PtxParseError);
    const labels = Array.from({ length: 20_000 }, (_, index) => `L${index}: bra L${index};`).join('\n');
    expect(parseModule(`${header}.entry k() { ${labels} }`, 'labels.ptx').functions[0]?.blocks).toHaveLength(
      20_000,
    );
    expect(() => parseModule(`${header}.global .u32 x = ${'{'.repeat(50_000)}`, 'open.ptx')).toThrow(
      PtxParseError,
    );
  });
});
