import { form, type VectorForm } from './vectorForm.js';

const operations: Readonly<Record<string, readonly string[]>> = {
  add: ['u32', 's32', 'u64', 'f32', 'f64', 'f16x2', 'bf16x2', 'f16', 'bf16'],
  min: ['u32', 's32', 'u64', 's64'],
  max: ['u32', 's32', 'u64', 's64'],
  inc: ['u32'],
  dec: ['u32'],
  and: ['b32', 'b64'],
  or: ['b32', 'b64'],
  xor: ['b32', 'b64'],
  exch: ['b32', 'b64'],
  cas: ['b16', 'b32', 'b64'],
};

const bitsOf = (type: string): string =>
  type === 'bf16' || type === 'f16' ? 'b16' : /x2$/.test(type) ? 'b32' : `b${type.slice(1)}`;

/** The cell holds the first source; results are what it held and what it holds afterwards. */
function atomics(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const [what, types] of Object.entries(operations)) {
    for (const type of types) {
      const bits = bitsOf(type);
      const noftz = /x2$|^b?f16$/.test(type) ? '.noftz' : '';
      for (const space of ['global', 'shared']) {
        // For pairs in shared memory the assembler reads half of the operand where it comes out of a wider register.
        if (space === 'shared' && /16x2$/.test(type)) continue;
        const cell = `[${space}Cell]`;
        const before = `st.${space}.${bits} ${cell}, %s0;`;
        const after = (result: string): string => `ld.${space}.${bits} ${result}, ${cell};`;
        const operands = what === 'cas' ? '%s1, %s2' : '%s1';
        const sources = what === 'cas' ? `${type} ${type} ${type}` : `${type} ${type}`;
        found.push(
          form(
            `atom.${space}.${what}${noftz}.${type}`,
            `${bits} ${bits} <- ${sources}`,
            before,
            `atom.${space}.${what}${noftz}.${type} %d0, ${cell}, ${operands};`,
            after('%d1'),
          ),
        );
        if (what !== 'exch' && what !== 'cas') {
          found.push(
            form(
              `red.${space}.${what}${noftz}.${type}`,
              `${bits} <- ${sources}`,
              before,
              `red.${space}.${what}${noftz}.${type} ${cell}, ${operands};`,
              after('%d0'),
            ),
          );
        }
      }
    }
  }
  return found;
}

/** 128 bits as two words. */
function wideAtomics(): VectorForm[] {
  return ['global', 'shared'].flatMap((space) => {
    const cell = `[${space}Cell]`;
    const put = `st.${space}.v2.b64 ${cell}, {%s0, %s1};`;
    const get = `ld.${space}.v2.b64 {%d2, %d3}, ${cell};`;
    return [
      form(
        `atom.${space}.exch.b128`,
        'b64 b64 b64 b64 <- b64 b64 b64 b64',
        put,
        'mov.b128 %y0, {%s2, %s3};',
        `atom.relaxed.gpu.${space}.exch.b128 %y1, ${cell}, %y0;`,
        'mov.b128 {%d0, %d1}, %y1;',
        get,
      ),
      form(
        `atom.${space}.cas.b128`,
        'b64 b64 b64 b64 <- b64 b64 b64 b64 flag',
        put,
        // Compares with what the cell holds or with something else.
        'setp.ne.u32 %p0, %s4, 0;',
        'selp.b64 %x1, %s0, %s2, %p0;',
        'mov.b128 %y0, {%x1, %s1};',
        'mov.b128 %y2, {%s2, %s3};',
        `atom.relaxed.gpu.${space}.cas.b128 %y1, ${cell}, %y0, %y2;`,
        'mov.b128 {%d0, %d1}, %y1;',
        get,
      ),
    ];
  });
}

/** Vectors of floats: each element is an atomic of its own. */
function vectorAtomics(): VectorForm[] {
  const found: VectorForm[] = [];
  const shapes = [
    ['f32', 2, ['add']],
    ['f32', 4, ['add']],
    ['f16', 2, ['add', 'min', 'max']],
    ['bf16', 4, ['add', 'min', 'max']],
    ['f16x2', 2, ['add', 'min', 'max']],
    ['bf16x2', 2, ['add', 'min', 'max']],
    ['f16x2', 4, ['add']],
  ] as const;
  for (const [type, count, operations] of shapes) {
    const bits = type === 'f32' ? 'b32' : bitsOf(type);
    const noftz = type === 'f32' ? '' : '.noftz';
    const list = (name: string, from: number): string =>
      `{${Array.from({ length: count }, (_, index) => `%${name}${from + index}`).join(', ')}}`;
    const repeated = (text: string, times: number): string =>
      Array.from({ length: times }, () => text).join(' ');
    for (const what of operations) {
      const head = `global.v${count}.${type}.${what}${noftz}`;
      found.push(
        form(
          `atom.${head}`,
          `${repeated(bits, 2 * count)} <- ${repeated(type, 2 * count)}`,
          `st.global.v${count}.${bits} [globalCell], ${list('s', 0)};`,
          `atom.${head} ${list('d', 0)}, [globalCell], ${list('s', count)};`,
          `ld.global.v${count}.${bits} ${list('d', count)}, [globalCell];`,
        ),
        form(
          `red.${head}`,
          `${repeated(bits, count)} <- ${repeated(type, 2 * count)}`,
          `st.global.v${count}.${bits} [globalCell], ${list('s', 0)};`,
          `red.${head} [globalCell], ${list('s', count)};`,
          `ld.global.v${count}.${bits} ${list('d', 0)}, [globalCell];`,
        ),
      );
    }
  }
  return found;
}

/** Loads and stores of every type, in registers of every width that may hold it. */
function accesses(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const type of [
    'u8',
    's8',
    'b8',
    'u16',
    's16',
    'b16',
    'u32',
    's32',
    'b32',
    'f32',
    'u64',
    's64',
    'b64',
    'f64',
  ]) {
    const bits = Number(type.slice(1));
    for (const space of ['global', 'shared']) {
      const cell = `[${space}Cell]`;
      for (const register of [16, 32, 64]) {
        if (register < bits || (type.startsWith('f') && register !== bits)) continue;
        found.push(
          form(
            `ld.${space}.${type} b${register}`,
            `b${register} <- b64`,
            `st.${space}.b64 ${cell}, %s0;`,
            `ld.${space}.${type} %d0, ${cell};`,
          ),
          form(
            `st.${space}.${type} b${register}`,
            `b64 <- b64 b${register}`,
            `st.${space}.b64 ${cell}, %s0;`,
            `st.${space}.${type} ${cell}, %s1;`,
            `ld.${space}.b64 %d0, ${cell};`,
          ),
        );
      }
    }
  }
  return found;
}

export const memoryForms: readonly VectorForm[] = [
  ...atomics(),
  ...wideAtomics(),
  ...vectorAtomics(),
  ...accesses(),
];
