import type { IrInstruction, ScalarType } from '../../../ptx/index.js';
import { operandTypes, parseModule, typeBits } from '../../../ptx/index.js';

/** Operands of a probed instruction, by the types that its form gives them. */
export interface ProbedInstruction {
  readonly text: string;
  readonly instruction: IrInstruction;
  readonly sources: readonly ScalarType[];
  readonly result: ScalarType;
}

const registerOf = (type: ScalarType, name: string): string =>
  `%${type === 'pred' ? 'p' : `b${registerBits(type)}_`}${name}`;

function registerBits(type: ScalarType): number {
  return Math.max(typeBits(type), 16);
}

function sourceCount(opcode: string): number {
  if (/^(mad|fma|sad|mad24|bfe|dp4a|dp2a|prmt|shf|slct|selp|fns)$/.test(opcode)) return 3;
  if (opcode === 'bfi') return 4;
  return /^(cvt|neg|abs|not|cnot|popc|clz|brev|bfind|rcp|sqrt|rsqrt|sin|cos|lg2|ex2|tanh|testp)$/.test(opcode)
    ? 1
    : 2;
}

const header = '.version 8.0\n.target sm_90\n.address_size 64\n';

const declarations = `
	.reg .pred %p<8>, %pn, %pd, %pq;
	.reg .b16 %b16_<8>, %b16_d;
	.reg .b32 %b32_<8>, %b32_d, %i, %n, %c, %t;
	.reg .b64 %b64_<8>, %b64_d, %in, %out, %off, %word, %second;`;

/** Finds the operand types of an instruction's text by parsing it with operands of every width in turn. */
export function probe(text: string): ProbedInstruction {
  const parts = text.split('.');
  const opcode = parts[0] ?? '';
  const count = text.includes('16x2') ? 2 : sourceCount(opcode);
  const dummies = ['%b16_0', '%b32_0', '%b64_0', '%p0'];
  const isPredicated = /^(setp|testp)/.test(text);
  const d = isPredicated ? '%pd' : '%b32_d';
  const operands = Array.from({ length: count }, () => dummies[1]);
  const body = `${text} ${[d, ...operands].join(', ')};`;
  const fn = parseModule(`${header}.entry k() {${declarations}\n${body}\n}`, text).functions[0];
  const instruction = fn?.instructions[0];
  if (instruction === undefined) throw new Error(`cannot probe ${text}`);
  const types = operandTypes(instruction);
  return {
    text,
    instruction,
    sources: types.sources.slice(0, count) as ScalarType[],
    result: types.destinations[0] as ScalarType,
  };
}

/**
 * A kernel that runs one instruction over `n` cases: case i reads words `4i …` of `in` and writes word `i` of `out`,
 * zero-extended.
 */
export function probeKernel(name: string, probed: ProbedInstruction): string {
  const loads = probed.sources.map((type, index) => {
    const target = registerOf(type, String(index));
    const convert =
      type === 'pred'
        ? `setp.ne.u64 ${target}, %word, 0;`
        : registerBits(type) === 64
          ? `mov.b64 ${target}, %word;`
          : `cvt.u${registerBits(type)}.u64 ${target}, %word;`;
    return `	ld.global.u64 %word, [%in+${index * 8}];\n	${convert}`;
  });
  const destination = registerOf(probed.result, 'd');
  const operands = probed.sources.map((type, index) => registerOf(type, String(index)));
  const bits = registerBits(probed.result);
  const widen =
    probed.result === 'pred'
      ? 'selp.b64 %word, 1, 0, %pd;'
      : bits === 64
        ? `mov.b64 %word, ${destination};`
        : `cvt.u64.u${bits} %word, ${destination};`;
  return `.visible .entry ${name}(.param .u64 in, .param .u64 out, .param .u32 n)
{${declarations}
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [n];
	mov.u32 %c, %ctaid.x;
	mov.u32 %t, %ntid.x;
	mov.u32 %i, %tid.x;
	mad.lo.s32 %i, %c, %t, %i;
	setp.ge.u32 %pn, %i, %n;
	@%pn ret;
	mul.wide.u32 %off, %i, 32;
	add.s64 %in, %in, %off;
	mul.wide.u32 %off, %i, 8;
	add.s64 %out, %out, %off;
${loads.join('\n')}
	${probed.text} ${[destination, ...operands].join(', ')};
	${widen}
	st.global.u64 [%out], %word;
	ret;
}
`;
}

/** A module with one probe kernel an instruction, named `op0`, `op1`, … */
export function probeModule(instructions: readonly string[]): string {
  return header + instructions.map((text, index) => probeKernel(`op${index}`, probe(text))).join('\n');
}
