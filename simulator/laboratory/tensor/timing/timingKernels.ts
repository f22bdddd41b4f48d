import { type Operand, type TileForm, wmmaRegisters } from '../../../tensor/index.js';
import { tileForms } from '../forms/index.js';
import { header } from '../probes/index.js';

/** One timed launch of a kernel of {@link timingModule}. */
export interface TimedLaunch {
  /** `latency` or `throughput`, the instruction, and how many warps there are. */
  readonly name: string;
  readonly kernel: string;
  /** Blocks; 0 is one for each SM of the card. */
  readonly grid: number;
  readonly block: number;
  readonly iterations: number;
  /** Instructions of a warp that one iteration has. */
  readonly instructions: number;
  /** Multiply-adds of one instruction; 0 of a move. */
  readonly multiplyAdds: number;
}

interface TimingKernel {
  readonly name: string;
  readonly text: string;
  readonly launches: readonly Omit<TimedLaunch, 'kernel'>[];
}

const iterations = 64;
const unrolled = 16;
/** Accumulators that do not wait for one another. */
const independent = 8;

/** Forms that are timed: of those that differ only in saturation, rounding, layouts, metadata or the order of types, one. */
export const timedForms: readonly TileForm[] = tileForms.filter(
  ({ name }) =>
    /^mma\.(?:sync|sp\.sync)\.aligned/.test(name) &&
    !/satfinite|\.r[nzmp]\.|\.u8|\.u4| [1-3]$/.test(name) &&
    !/m8n8k4\.(?:row\.row|col\.\w+)\.f/.test(name) &&
    !/e4m3\.e5m2|e5m2\.e4m3|e5m2\.e5m2/.test(name),
);

/** All launches, one warp first, then four, eight and sixteen of one SM, then every SM. */
export function timingKernels(): readonly TimedLaunch[] {
  return kernels().flatMap(({ name, launches }) => launches.map((launch) => ({ ...launch, kernel: name })));
}

/** Every kernel's text. Each takes room for a word a warp, its cycles, and a number of iterations. */
export function timingModule(): string {
  return (
    header +
    kernels()
      .map(({ text }) => text)
      .join('\n')
  );
}

function kernels(): TimingKernel[] {
  return [
    ...timedForms.flatMap((form, index) => [latencyKernel(form, index), throughputKernel(form, index)]),
    ...moveKernels(),
    wmmaKernel(),
  ];
}

const warpCounts = [
  [1, 1],
  [1, 4],
  [1, 8],
  [1, 16],
  [0, 4],
  [0, 16],
] as const;

function launchesOf(
  what: string,
  counts: readonly (readonly [grid: number, warps: number])[],
  instructions: number,
  multiplyAdds: number,
): Omit<TimedLaunch, 'kernel'>[] {
  return counts.map(([grid, warps]) => ({
    name: `${what}, ${grid === 0 ? 'every SM, ' : ''}${warps} warp${warps === 1 ? '' : 's'}`,
    grid,
    block: 32 * warps,
    iterations,
    instructions,
    multiplyAdds,
  }));
}

/** Each product waits for the last one's. */
function latencyKernel(form: TileForm, index: number): TimingKernel {
  const name = `latency${index}`;
  const step = productText(form, 0);
  return {
    name,
    text: timed(
      name,
      operandLines(form, 1),
      Array.from({ length: unrolled }, () => step),
      resultRegisters(form, 1),
    ),
    launches: launchesOf(`latency ${form.name}`, [[1, 1]], unrolled, multiplyAdds(form)),
  };
}

/** As many products as accumulators fit in registers, without waiting. */
function throughputKernel(form: TileForm, index: number): TimingKernel {
  const name = `throughput${index}`;
  const sets = (form.d.registers ?? 0) * (form.d.unitBits / 32) > 4 ? independent / 2 : independent;
  const steps = Array.from({ length: unrolled }, (_, at) => productText(form, at % sets));
  return {
    name,
    text: timed(name, operandLines(form, sets), steps, resultRegisters(form, sets)),
    launches: launchesOf(`throughput ${form.name}`, warpCounts, unrolled, multiplyAdds(form)),
  };
}

function multiplyAdds({ shape: { m, n, k }, d: { batches } }: TileForm): number {
  return m * n * k * batches;
}

function registerType({ type }: Operand): 'b32' | 'f32' | 'f64' {
  return type === 'f32' ? 'f32' : type === 'f64' ? 'f64' : 'b32';
}

function vector(prefix: string, count: number, first = 0): string {
  return `{${Array.from({ length: count }, (_, at) => `%${prefix}${first + at}`).join(', ')}}`;
}

function productText(form: TileForm, set: number): string {
  const [instruction = ''] = form.name.split(' ');
  const [a = 0, b = 0, c = 0] = [form.a, form.b, form.c].map(({ registers }) => registers);
  // D is C of the next one where their types are the same; where they are not, C stays.
  const isChained = form.c.type === form.d.type;
  const d = vector('d', form.d.registers ?? 0, set * (form.d.registers ?? 0));
  const addend = isChained ? d : vector('c', c);
  const metadata = form.sparse === undefined ? '' : `, %e0, ${form.sparse.selector}`;
  return `${instruction} ${d}, ${vector('a', a)}, ${vector('b', b)}, ${addend}${metadata};`;
}

function operandLines(form: TileForm, sets: number): string[] {
  const nought = { b32: '0', f32: '0f00000000', f64: '0d0000000000000000' } as const;
  const lines: string[] = [];
  for (const [prefix, operand, count] of [
    ['a', form.a, form.a.registers ?? 0],
    ['b', form.b, form.b.registers ?? 0],
    ['c', form.c, form.c.registers ?? 0],
    ['d', form.d, (form.d.registers ?? 0) * sets],
  ] as const) {
    const type =
      prefix === 'a' || prefix === 'b' ? (operand.type === 'f64' ? 'f64' : 'b32') : registerType(operand);
    lines.push(`.reg .${type} %${prefix}<${count}>;`);
    for (let at = 0; at < count; at++) lines.push(`mov.${type} %${prefix}${at}, ${nought[type]};`);
  }
  if (form.sparse !== undefined) lines.push('.reg .b32 %e<1>;', 'mov.b32 %e0, 0x44444444;');
  return lines;
}

/** Lines that make one word of all results: the clock is read behind a branch on it, and so after all of them. */
function resultRegisters(form: TileForm, sets: number): string[] {
  const type = registerType(form.d);
  const count = (form.d.registers ?? 0) * sets;
  const lines: string[] = [];
  for (let at = 0; at < count; at++) {
    if (type === 'f64') lines.push(`mov.b64 {%low, %high}, %d${at};`, 'xor.b32 %all, %all, %low;');
    else lines.push(`mov.b32 %low, %d${at};`, 'xor.b32 %all, %all, %low;');
  }
  return lines;
}

function timed(
  name: string,
  before: readonly string[],
  steps: readonly string[],
  after: readonly string[],
  shared = '',
): string {
  return `.visible .entry ${name}(.param .u64 out, .param .u32 iterations)
{
${shared}	.reg .pred %more, %first, %never;
	.reg .b32 %iterations, %all, %low, %high, %lane, %thread, %warps, %block, %warp, %cycles;
	.reg .b64 %out, %off, %begin, %end;
	ld.param.u64 %out, [out];
	ld.param.u32 %iterations, [iterations];
	cvta.to.global.u64 %out, %out;
	mov.u32 %thread, %tid.x;
	mov.b32 %all, 0;
	and.b32 %lane, %thread, 31;
${before.map((line) => `	${line}`).join('\n')}
	bar.sync 0;
	mov.u64 %begin, %clock64;
again:
${steps.map((line) => `	${line}`).join('\n')}
	sub.u32 %iterations, %iterations, 1;
	setp.ne.u32 %more, %iterations, 0;
	@%more bra again;
${after.map((line) => `	${line}`).join('\n')}
	setp.eq.u32 %never, %all, 0x9e3779b1;
	@%never bra odd;
	mov.u64 %end, %clock64;
	sub.s64 %end, %end, %begin;
	cvt.u32.u64 %cycles, %end;
	shr.u32 %warp, %thread, 5;
	mov.u32 %warps, %ntid.x;
	shr.u32 %warps, %warps, 5;
	mov.u32 %block, %ctaid.x;
	mad.lo.u32 %warp, %block, %warps, %warp;
	mul.wide.u32 %off, %warp, 4;
	add.s64 %out, %out, %off;
	setp.eq.u32 %first, %lane, 0;
	@%first st.global.u32 [%out], %cycles;
	ret;
odd:
	st.global.u32 [%out], %all;
	ret;
}
`;
}

/** Bytes between rows of matrices, from none in the way of another to all eight in one bank. */
const rowStrides = [16, 32, 64, 128, 144] as const;

function moveKernels(): TimingKernel[] {
  const made: TimingKernel[] = [];
  const shared = '	.shared .align 128 .b8 image[8192];\n';
  for (const count of [1, 2, 4]) {
    for (const trans of ['', '.trans']) {
      for (const stride of rowStrides) {
        const suffix = `sync.aligned.m8n8.x${count}${trans}.shared.b16`;
        const before = [
          '.reg .b32 %at, %base, %row;',
          `.reg .b32 %r<${count * independent}>;`,
          'mov.u32 %base, image;',
          `mul.lo.u32 %row, %lane, ${stride};`,
          'add.u32 %at, %base, %row;',
          ...Array.from({ length: 4 }, (_, at) => `st.shared.b32 [%at+${at * 4}], 0;`),
          ...Array.from({ length: count * independent }, (_, at) => `mov.b32 %r${at}, 0;`),
        ];
        const keep = Array.from({ length: count * independent }, (_, at) => `xor.b32 %all, %all, %r${at};`);
        const id = `${count}${trans === '' ? '' : 't'}_${stride}`;
        made.push(
          {
            name: `ldmatrixLatency${id}`,
            text: timed(
              `ldmatrixLatency${id}`,
              before,
              Array.from({ length: unrolled }, () => [
                `ldmatrix.${suffix} ${vector('r', count)}, [%at];`,
                'add.u32 %at, %at, %r0;',
              ]).flat(),
              keep,
              shared,
            ),
            launches: launchesOf(
              `latency ldmatrix.${suffix}, rows ${stride} bytes apart`,
              [[1, 1]],
              unrolled,
              0,
            ),
          },
          {
            name: `ldmatrix${id}`,
            text: timed(
              `ldmatrix${id}`,
              before,
              Array.from(
                { length: unrolled },
                (_, at) => `ldmatrix.${suffix} ${vector('r', count, (at % independent) * count)}, [%at];`,
              ),
              keep,
              shared,
            ),
            launches: launchesOf(
              `throughput ldmatrix.${suffix}, rows ${stride} bytes apart`,
              [
                [1, 1],
                [1, 4],
                [1, 16],
              ],
              unrolled,
              0,
            ),
          },
          {
            name: `stmatrix${id}`,
            text: timed(
              `stmatrix${id}`,
              before,
              Array.from({ length: unrolled }, () => `stmatrix.${suffix} [%at], ${vector('r', count)};`),
              keep,
              shared,
            ),
            launches: launchesOf(
              `throughput stmatrix.${suffix}, rows ${stride} bytes apart`,
              [
                [1, 1],
                [1, 4],
                [1, 16],
              ],
              unrolled,
              0,
            ),
          },
        );
      }
    }
  }
  const move = 'movmatrix.sync.aligned.m8n8.trans.b16';
  const registers = ['.reg .b32 %r<8>;', ...Array.from({ length: 8 }, (_, at) => `mov.b32 %r${at}, %lane;`)];
  const keep = Array.from({ length: 8 }, (_, at) => `xor.b32 %all, %all, %r${at};`);
  made.push(
    {
      name: 'movmatrixLatency',
      text: timed(
        'movmatrixLatency',
        registers,
        Array.from({ length: unrolled }, () => `${move} %r0, %r0;`),
        keep,
      ),
      launches: launchesOf(`latency ${move}`, [[1, 1]], unrolled, 0),
    },
    {
      name: 'movmatrix',
      text: timed(
        'movmatrix',
        registers,
        Array.from({ length: unrolled }, (_, at) => `${move} %r${at % 8}, %r${at % 8};`),
        keep,
      ),
      launches: launchesOf(
        `throughput ${move}`,
        [
          [1, 1],
          [1, 4],
          [1, 16],
        ],
        unrolled,
        0,
      ),
    },
  );
  return made;
}

/** `wmma` of one shape, beside the two products of `mma` that it consists of. */
function wmmaKernel(): TimingKernel {
  const counts = wmmaRegisters('m16n16k16', 'f16', 'f32');
  const lines = [
    `.reg .b32 %a<${counts.a}>, %b<${counts.b}>;`,
    `.reg .f32 %d<${counts.c}>;`,
    ...Array.from({ length: 8 }, (_, at) => [
      `mov.b32 %a${at}, 0;`,
      `mov.b32 %b${at}, 0;`,
      `mov.f32 %d${at}, 0f00000000;`,
    ]).flat(),
  ];
  const d = vector('d', 8);
  const step = `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 ${d}, ${vector('a', 8)}, ${vector('b', 8)}, ${d};`;
  const keep = Array.from({ length: 8 }, (_, at) => [
    `mov.b32 %low, %d${at};`,
    'xor.b32 %all, %all, %low;',
  ]).flat();
  return {
    name: 'wmmaLatency',
    text: timed(
      'wmmaLatency',
      lines,
      Array.from({ length: unrolled }, () => step),
      keep,
    ),
    launches: launchesOf(
      'latency wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32',
      [[1, 1]],
      unrolled,
      16 * 16 * 16,
    ),
  };
}
