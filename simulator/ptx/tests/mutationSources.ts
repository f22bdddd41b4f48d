import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';

/** A text that uses what kernels do not: nested scopes, calls, initialisers, debug directives. */
const denseText = `${header}
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .b8 t[16] = {1, 0x2, 010, 0b1, -5};
.global .align 8 .u64 p[2] = {generic(t)+8, t};
.global .align 1 .u8 parts[9] = {1, 0xFF(t), 0xFF00(t), 0xFF0000(t), 0xFF000000(t), 0xFF00000000(t), 0xFF0000000000(t), 0xFF000000000000(t), 0xFF00000000000000(t)};
.const .f32 c[2][2] = {{0f3F800000, -2.5}, {3.0, 0d4010000000000000}};
.func (.param .b32 r) f (.param .align 8 .b8 s[16]) { .reg .b32 %r<3>; ld.param.u32 %r1, [s+4]; st.param.b32 [r], %r1; ret; }
.func never() .noreturn { trap; }
.func (.reg .u32 %o) old (.reg .u32 %a, .reg .f64 %b) { .reg .pred %q; add.u32 %o, %a, 1; @%q ret; }
.func other(.param .b32 a);
.weak .func same(.param .b32 a) { ret; }
.alias other, same;
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<5>; .reg .b16 %h<4>;
	.reg .v4 .f32 %v; .reg .v2 .b32 %w; .reg .b128 %q<3>; .reg .b8 %b;
	.local .align 16 .b8 depot[32]; .shared .align 16 .b8 sh[64];
	.loc 1 10 44, function_name $L__info, inlined_at 1 5 3
	.pragma "nounroll";
	ld.global.v4.f32 {%f0, %f1, %f2, _}, [%rd1+-16];
	{ // callseq
	.param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0; .param .align 8 .b8 big[16];
	call.uni (retval0), f, (big); call (%r2), old, (%r1, 0d3FF0000000000000); call other, (param0);
	proto : .callprototype (.param .b32 _) _ (.param .b32 _);
	call (retval0), %rd1, (param0), proto;
	list : .calltargets f; call (%r2), %rd1, (big), list;
	}
	ts: .branchtargets A, B;
	brx.idx %r1, ts;
A:	setp.lt.and.s32 %p1|%p2, %r1, -7, !%p0;
	@!%p1 bra B;
	add.cc.u32 %r1, %r2, %r3; addc.u32 %r1, %r2, 5; mad.lo.cc.u64 %rd1, %rd2, %rd3, %rd4;
	mov.v4.f32 %v, {%v.y, %v.x, 0f3F800000, 1.5}; mov.b128 %q1, {%rd1, %rd2}; st.global.b128 [%rd1], %q1;
	vmad.s32.s32.s32.shr7 %r1, %r2.h0, -%r3.b1, %r4; vadd4.u32.u32.u32 %r1.b31, %r2, %r3.b7654, %r4;
	cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd2], 16, %rd3; cp.async.ca.shared.global [sh], [%rd2], 8, %p1;
	bar.red.popc.u32 %r1, 0, 64, !%p1; bar.sync %r1, 96; barrier.cta.arrive.aligned 1, 64;
	atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f1, %f2}; red.add.noftz.f16x2 [%rd1], %r1;
	cvt.u64.u32 %rd1, %tid.x; cvta.global.u64 %rd2, t+4; fma.rn.relu.f16 %h1, %h2, %h3, %h1;
	tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tx, {%f0, %f1}];
B:	mov.b64 {%r1, %r2}, %rd1; mov.u32 %r3, %tid.x; mov.f32 %f1, 1.5; elect.sync _|%p1, -1; ret;
}
.section .debug_abbrev { .b8 1 .b64 $L__x }
`;

/** The folder and all below it, of the sources that a compiled tree does not have. */
function textsUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ptx'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** Undamaged texts, in a fixed order: the dense one, then the fixtures under `simulator` of a checkout at `root`. */
export function mutationSources(root: string): string[] {
  const folder = join(root, 'simulator');
  if (!existsSync(folder)) throw new Error(`${folder}: run this from the root of the repository`);
  return [denseText, ...textsUnder(folder)];
}
