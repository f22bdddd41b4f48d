import { vectorRegisterBits, type VectorForm, type VectorType } from './forms/index.js';

export const threadsPerBlock = 128;

const header = '.version 8.3\n.target sm_90\n.address_size 64\n';

function declaration(type: VectorType, name: string): string {
  const bits = vectorRegisterBits(type);
  return `	.reg ${bits === 1 ? '.pred' : `.b${bits}`} ${name};`;
}

/** The lines between the loading of the sources and the storing of the results. */
export function bodyOf(form: VectorForm): string[] {
  if (form.body !== undefined)
    return form.body.map((line) =>
      line.replaceAll('globalCell', '%cell').replaceAll('sharedCell', '%sharedCell'),
    );
  const operands = [
    ...form.results.map((_, index) => `%d${index}`),
    ...form.sources.map((_, index) => `%s${index}`),
  ];
  return [`${form.name} ${operands.join(', ')};`];
}

/** Registers of the sources and results of a form, and those that its body names besides. */
function declarationsOf(form: VectorForm): string {
  const text = bodyOf(form).join('\n');
  return [
    ...form.sources.map((type, index) => declaration(type, `%s${index}`)),
    ...form.results.map((type, index) => declaration(type, `%d${index}`)),
    ...(text.includes('%x0') ? ['	.reg .b32 %x0;'] : []),
    ...(text.includes('%x1') ? ['	.reg .b64 %x1;'] : []),
    ...(text.includes('%p0') ? ['	.reg .pred %p0;'] : []),
    ...(text.includes('%y0') ? ['	.reg .b128 %y<3>;'] : []),
  ].join('\n');
}

/** A module with nothing but a form's body, for a form without memory. */
export function bodyModule(form: VectorForm): string {
  return `${header}.visible .entry op()\n{\n${declarationsOf(form)}\n${bodyOf(form).join('\n')}\nret;\n}\n`;
}

/**
 * A kernel that runs one form over `n` cases: case i reads words of `in` and writes words of `out`, zero-extended, one
 * for each source and result. `%cell` is 16 bytes of global memory of its own, `%sharedCell` of shared memory.
 */
export function probeKernel(name: string, form: VectorForm): string {
  const loads = form.sources.map((type, index) => {
    const bits = vectorRegisterBits(type);
    const convert =
      bits === 1
        ? `setp.ne.u64 %s${index}, %word, 0;`
        : bits === 64
          ? `mov.b64 %s${index}, %word;`
          : `cvt.u${bits}.u64 %s${index}, %word;`;
    return `	ld.global.u64 %word, [%in+${index * 8}];\n	${convert}`;
  });
  const stores = form.results.map((type, index) => {
    const bits = vectorRegisterBits(type);
    const widen =
      bits === 1
        ? `selp.b64 %word, 1, 0, %d${index};`
        : bits === 64
          ? `mov.b64 %word, %d${index};`
          : `cvt.u64.u${bits} %word, %d${index};`;
    return `	${widen}\n	st.global.u64 [%out+${index * 8}], %word;`;
  });
  const body = bodyOf(form);
  const text = body.join('\n');
  const cells = text.includes('ell]')
    ? `	.reg .b64 %cell;
	.reg .b32 %sharedCell;
	mov.u64 %cell, cells;
	mul.wide.u32 %off, %i, 16;
	add.s64 %cell, %cell, %off;
	mov.u32 %sharedCell, sharedCells;
	mad.lo.u32 %sharedCell, %lane, 16, %sharedCell;`
    : '';
  return `.visible .entry ${name}(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %done;
	.reg .b32 %i, %n, %c, %t, %lane;
	.reg .b64 %in, %out, %off, %word;
${declarationsOf(form)}
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [n];
	mov.u32 %c, %ctaid.x;
	mov.u32 %t, %ntid.x;
	mov.u32 %lane, %tid.x;
	mad.lo.s32 %i, %c, %t, %lane;
	setp.ge.u32 %done, %i, %n;
	@%done ret;
	mul.wide.u32 %off, %i, ${8 * form.sources.length};
	add.s64 %in, %in, %off;
	mul.wide.u32 %off, %i, ${8 * form.results.length};
	add.s64 %out, %out, %off;
${cells}
${loads.join('\n')}
${body.map((line) => `	${line}`).join('\n')}
${stores.join('\n')}
	ret;
}
`;
}

/** A module with one probe kernel a form, named `op0`, `op1`, … from `first` on. */
export function probeModule(forms: readonly VectorForm[], first = 0): string {
  const variables = forms.some((each) => bodyOf(each).join('').includes('ell]'))
    ? `.global .align 16 .b8 cells[65536];\n.shared .align 16 .b8 sharedCells[${16 * threadsPerBlock}];\n`
    : '';
  return header + variables + forms.map((each, index) => probeKernel(`op${first + index}`, each)).join('\n');
}
