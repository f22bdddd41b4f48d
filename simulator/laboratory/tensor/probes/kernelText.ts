import { type Operand, type TileForm, operandWords, wmmaRegisters } from '../../../tensor/index.js';
import type { MoveArea, MoveForm } from '../forms/index.js';

export const header = '.version 9.0\n.target sm_90a\n.address_size 64\n';

/** How a kernel's block is made: a warp computes a tile of its own, a warpgroup one together. */
export interface BlockShape {
  readonly threads: number;
  readonly tiles: number;
}

export function blockShape(form: TileForm | MoveForm): BlockShape {
  if (!('shape' in form)) return { threads: 32, tiles: 1 };
  return form.kind === 'wgmma' ? { threads: 128, tiles: 1 } : { threads: 128, tiles: 4 };
}

type Register = 'b32' | 'f32' | 'f64';

/** Words that a tile of a form takes and leaves. */
export interface TileWords {
  readonly input: number;
  readonly output: number;
}

export function tileWords(form: TileForm): TileWords {
  const { a, b, c, d } = form;
  const metadata = form.sparse === undefined ? 0 : 32;
  return {
    input: operandWords(a) + operandWords(b) + operandWords(c) + metadata,
    output: operandWords(d),
  };
}

export function moveWords(form: MoveForm): TileWords {
  return {
    input: form.inputs.reduce((sum, area) => sum + areaWords(area), 0),
    output: areaWords(form.output),
  };
}

function areaWords({ kind, count, register }: MoveArea): number {
  if (kind === 'memory') return count;
  return count * (register === 'f64' ? 64 : 32);
}

/**
 * A kernel that runs a form once a tile: a warp loads the tile's words, computes, and stores what it got. Parameters: the words of all
 * tiles, room for what comes out, and the number of tiles.
 */
export function tileKernel(name: string, form: TileForm): string {
  const words = tileWords(form);
  if (form.kind === 'wgmma') {
    const shared = `	.shared .align 128 .b8 image[${operandWords(form.b) * 4}];\n`;
    return kernel(name, words, 1, wgmmaBody(form), shared);
  }
  const body = form.kind === 'wmma' ? wmmaBody(form) : mmaBody(form);
  return kernel(name, words, blockShape(form).tiles, body, '');
}

/** The same of a form that moves a matrix, a block of one warp a tile. */
export function moveKernel(name: string, form: MoveForm): string {
  const [image] = form.inputs.filter(({ kind }) => kind === 'memory');
  const shared = image === undefined ? '' : `	.shared .align 128 .b8 image[${image.count * 4}];\n`;
  return kernel(name, moveWords(form), 1, moveBody(form), shared);
}

function kernel(
  name: string,
  words: TileWords,
  warps: number,
  body: readonly string[],
  shared: string,
): string {
  return `.visible .entry ${name}(.param .u64 in, .param .u64 out, .param .u32 tiles)
{
${shared}	.reg .pred %done;
	.reg .b32 %tile, %tiles, %block, %warp, %thread, %lane;
	.reg .b64 %in, %out, %off, %inLane, %outLane, %inLong, %outLong;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	ld.param.u32 %tiles, [tiles];
	cvta.to.global.u64 %in, %in;
	cvta.to.global.u64 %out, %out;
	mov.u32 %block, %ctaid.x;
	mov.u32 %thread, %tid.x;
${
  warps === 1
    ? '	mov.u32 %tile, %block;\n	mov.u32 %lane, %thread;'
    : `	shr.u32 %warp, %thread, 5;\n	and.b32 %lane, %thread, 31;\n	mad.lo.u32 %tile, %block, ${warps}, %warp;`
}
	setp.ge.u32 %done, %tile, %tiles;
	@%done bra end;
	mul.wide.u32 %off, %tile, ${words.input * 4};
	add.s64 %in, %in, %off;
	mul.wide.u32 %off, %tile, ${words.output * 4};
	add.s64 %out, %out, %off;
	mul.wide.u32 %off, %lane, 4;
	add.s64 %inLane, %in, %off;
	add.s64 %outLane, %out, %off;
	add.s64 %inLong, %inLane, %off;
	add.s64 %outLong, %outLane, %off;
${body.map((line) => `	${line}`).join('\n')}
end:
	ret;
}
`;
}

function registerOf(operand: Operand): Register {
  return operand.type === 'f32' ? 'f32' : operand.type === 'f64' ? 'f64' : 'b32';
}

function declare(prefix: string, register: Register, count: number): string {
  return `.reg .${register} %${prefix}<${count}>;`;
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `%${prefix}${index}`);
}

function load(prefix: string, register: Register, count: number, offsetWords: number): string[] {
  return [declare(prefix, register, count), ...names(prefix, count).map(line)];
  function line(name: string, index: number): string {
    return register === 'f64'
      ? `ld.global.f64 ${name}, [%inLong+${offsetWords * 4 + index * 256}];`
      : `ld.global.${register} ${name}, [%inLane+${offsetWords * 4 + index * 128}];`;
  }
}

function store(prefix: string, register: Register, count: number): string[] {
  return names(prefix, count).map((name, index) =>
    register === 'f64'
      ? `st.global.f64 [%outLong+${index * 256}], ${name};`
      : `st.global.${register} [%outLane+${index * 128}], ${name};`,
  );
}

function vector(prefix: string, count: number): string {
  return `{${names(prefix, count).join(', ')}}`;
}

function mmaBody(form: TileForm): string[] {
  const offsets = [0, operandWords(form.a), operandWords(form.a) + operandWords(form.b)];
  const operands = (['a', 'b', 'c'] as const).map((prefix, index) => {
    const operand = form[prefix];
    const count = operand.registers ?? 0;
    return {
      lines: load(prefix, registerOf(operand), count, offsets[index] ?? 0),
      text: vector(prefix, count),
    };
  });
  const d = registerOf(form.d);
  const count = form.d.registers ?? 0;
  const [instruction = ''] = form.name.split(' ');
  const texts = [vector('d', count), ...operands.map(({ text }) => text)];
  const metadata = form.sparse === undefined ? [] : load('e', 'b32', 1, tileWords(form).input - 32);
  if (form.sparse !== undefined) texts.push('%e0', String(form.sparse.selector));
  return [
    ...operands.flatMap(({ lines }) => lines),
    ...metadata,
    declare('d', d, count),
    `${instruction} ${texts.join(', ')};`,
    ...store('d', d, count),
  ];
}

/** B is copied to shared memory, and its descriptor says that core matrices lie 128 bytes apart. */
function wgmmaBody(form: TileForm): string[] {
  const [aWords, bWords] = [operandWords(form.a), operandWords(form.b)];
  const d = registerOf(form.d);
  const count = form.d.registers ?? 0;
  const at = (words: number, index: number): number => words * 4 + index * 512;
  const isHalf = form.a.type === 'f16' || form.a.type === 'bf16';
  const scales = form.d.type === 's32' ? '' : `, 1, 1${isHalf ? ', 0' : ''}`;
  return [
    declare('a', 'b32', 4),
    declare('d', d, count),
    '.reg .pred %copies, %adds;',
    '.reg .b32 %word, %short;',
    '.reg .b64 %descriptor;',
    ...names('a', 4).map((name, index) => `ld.global.b32 ${name}, [%inLane+${at(0, index)}];`),
    ...names('d', count).map(
      (name, index) => `ld.global.${d} ${name}, [%inLane+${at(aWords + bWords, index)}];`,
    ),
    `setp.lt.u32 %copies, %thread, ${bWords};`,
    'mov.u32 %short, image;',
    'mad.lo.u32 %short, %thread, 4, %short;',
    `@%copies ld.global.b32 %word, [%inLane+${at(aWords, 0)}];`,
    '@%copies st.shared.b32 [%short], %word;',
    'fence.proxy.async.shared::cta;',
    'bar.sync 0;',
    'mov.u32 %word, image;',
    'and.b32 %word, %word, 0x3ffff;',
    'shr.u32 %word, %word, 4;',
    'cvt.u64.u32 %descriptor, %word;',
    'or.b64 %descriptor, %descriptor, 0x800080000;',
    'setp.eq.u32 %adds, 0, 0;',
    'wgmma.fence.sync.aligned;',
    `${form.name} ${vector('d', count)}, ${vector('a', 4)}, %descriptor, %adds${scales};`,
    'wgmma.commit_group.sync.aligned;',
    'wgmma.wait_group.sync.aligned 0;',
    ...names('d', count).map((name, index) => `st.global.${d} [%outLane+${index * 512}], ${name};`),
  ];
}

/** The whole of it: loads from memory, product, store. */
function wmmaBody(form: TileForm): string[] {
  const { m, n, k } = form.shape;
  const text = `m${m}n${n}k${k}`;
  const lines: string[] = ['.reg .b64 %p<3>;'];
  let offset = 0;
  for (const [index, fragment] of (['a', 'b', 'c'] as const).entries()) {
    const operand = form[fragment];
    const counts = wmmaRegisters(text, form.a.type, operand.type);
    const register = fragment === 'c' || operand.type === 'f64' ? registerOf(operand) : 'b32';
    lines.push(
      declare(fragment, register, counts[fragment]),
      `add.s64 %p${index}, %in, ${offset * 4};`,
      `wmma.load.${fragment}.sync.aligned.${operand.image?.layout}.${text}.global.${operand.type} ${vector(fragment, counts[fragment])}, [%p${index}], ${operand.image?.leading};`,
    );
    offset += operandWords(operand);
  }
  const count = wmmaRegisters(text, form.a.type, form.d.type).c;
  const c = wmmaRegisters(text, form.a.type, form.c.type).c;
  const { a, b } = wmmaRegisters(text, form.a.type);
  const operands = [vector('d', count), vector('a', a), vector('b', b), vector('c', c)];
  lines.push(
    declare('d', registerOf(form.d), count),
    `${form.name} ${operands.join(', ')};`,
    `wmma.store.d.sync.aligned.${form.d.image?.layout}.${text}.global.${form.d.type} [%out], ${vector('d', count)}, ${form.d.image?.leading};`,
  );
  return lines;
}

function moveBody(form: MoveForm): string[] {
  const lines: string[] = [];
  let offset = 0;
  let memoryOffset = 0;
  for (const area of form.inputs) {
    if (area.kind === 'memory') memoryOffset = offset;
    else {
      const prefix = area.kind === 'rows' ? 'row' : 'r';
      lines.push(...load(prefix, area.register, area.count, offset));
    }
    offset += areaWords(area);
  }
  const [image] = form.inputs.filter(({ kind }) => kind === 'memory');
  const inShared = form.kind === 'ldmatrix' || form.kind === 'stmatrix' || form.space === 'shared';
  lines.push('.reg .b64 %at, %long;', '.reg .b32 %word, %short;');
  if (image !== undefined && inShared) {
    lines.push(
      'shl.b32 %short, %lane, 2;',
      'mov.u32 %word, image;',
      'add.u32 %short, %short, %word;',
      ...copy(image.count, (at) => [
        `ld.global.b32 %word, [%inLane+${(memoryOffset + at) * 4}];`,
        `st.shared.b32 [%short+${at * 4}], %word;`,
      ]),
      'bar.warp.sync 0xffffffff;',
    );
  }
  lines.push(...instructionOf(form, memoryOffset));
  if (form.output.kind === 'registers')
    return [...lines, ...store('d', form.output.register, form.output.count)];
  if (!inShared) return lines;
  return [
    ...lines,
    'bar.warp.sync 0xffffffff;',
    ...copy(form.output.count, (at) => [
      `ld.shared.b32 %word, [%short+${at * 4}];`,
      `st.global.b32 [%outLane+${at * 4}], %word;`,
    ]),
  ];
}

/** Lines that copy `count` words, 32 at a time; the last ones are those of the first lanes. */
function copy(count: number, step: (at: number) => string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at + 32 <= count; at += 32) lines.push(...step(at));
  const rest = count % 32;
  if (rest === 0) return lines;
  return [
    ...lines,
    '.reg .pred %rest;',
    `setp.lt.u32 %rest, %lane, ${rest};`,
    ...step(count - rest).map((line) => `@%rest ${line}`),
  ];
}

function instructionOf(form: MoveForm, memoryOffset: number): string[] {
  const [instruction = ''] = form.name.split(', ');
  const isLoad = form.output.kind === 'registers';
  const kept = isLoad ? form.output : form.inputs.find(({ kind }) => kind === 'registers');
  const count = kept?.count ?? 0;
  const declared = isLoad ? [declare('d', form.output.register, count)] : [];
  const fragment = vector(isLoad ? 'd' : 'r', count);
  if (form.kind === 'movmatrix') return [...declared, `${instruction} %d0, %r0;`];
  if (form.kind === 'ldmatrix' || form.kind === 'stmatrix') {
    const address =
      form.space === 'shared'
        ? ['mov.u32 %word, image;', 'add.u32 %word, %word, %row0;']
        : [
            'mov.u64 %at, image;',
            'cvta.shared.u64 %at, %at;',
            'cvt.u64.u32 %long, %row0;',
            'add.s64 %at, %at, %long;',
          ];
    const at = form.space === 'shared' ? '[%word]' : '[%at]';
    const operands = isLoad ? `${fragment}, ${at}` : `${at}, ${fragment}`;
    return [...declared, ...address, `${instruction} ${operands};`];
  }
  const base = isLoad ? '%in' : '%out';
  const address = {
    global: [`add.s64 %at, ${base}, ${isLoad ? memoryOffset * 4 : 0};`],
    generic: [`add.s64 %at, ${base}, ${isLoad ? memoryOffset * 4 : 0};`, 'cvta.global.u64 %at, %at;'],
    shared: ['mov.u64 %at, image;'],
  }[form.space];
  const stride = form.stride === undefined ? '' : `, ${form.stride}`;
  const operands = isLoad ? `${fragment}, [%at]${stride}` : `[%at], ${fragment}${stride}`;
  return [...declared, ...address, `${instruction} ${operands};`];
}
