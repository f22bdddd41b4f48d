import { form, type VectorForm } from './vectorForm.js';

/** The condition code is set from a flag operand before, and read into a second result after the instruction. */
function forms(): VectorForm[] {
  const found: VectorForm[] = [];
  for (const type of ['u32', 's32', 'u64', 's64']) {
    const bits = type.slice(1);
    const carryFrom = (source: string): string[] =>
      bits === '32'
        ? [`add.cc.u32 %x0, ${source}, 0xffffffff;`]
        : [`cvt.u64.u32 %x1, ${source};`, 'add.cc.u64 %x1, %x1, 0xffffffffffffffff;'];
    const carryInto = (result: string): string => `addc.${bits === '32' ? 'u32' : 'u64'} ${result}, 0, 0;`;
    for (const opcode of ['add', 'sub']) {
      const operands = '%d0, %s0, %s1;';
      found.push(
        form(
          `${opcode}.cc.${type}`,
          `${type} b${bits} <- ${type} ${type}`,
          `${opcode}.cc.${type} ${operands}`,
          carryInto('%d1'),
        ),
        form(
          `${opcode}c.${type}`,
          `${type} <- ${type} ${type} flag`,
          ...carryFrom('%s2'),
          `${opcode}c.${type} ${operands}`,
        ),
        form(
          `${opcode}c.cc.${type}`,
          `${type} b${bits} <- ${type} ${type} flag`,
          ...carryFrom('%s2'),
          `${opcode}c.cc.${type} ${operands}`,
          carryInto('%d1'),
        ),
      );
    }
    found.push(
      form(
        `sub.cc.${type} subc`,
        `${type} b${bits} <- ${type} ${type}`,
        `sub.cc.${type} %d0, %s0, %s1;`,
        `subc.${type} %d1, 0, 0;`,
      ),
      form(
        `add.cc.${type} subc`,
        `${type} b${bits} <- ${type} ${type}`,
        `add.cc.${type} %d0, %s0, %s1;`,
        `subc.${type} %d1, 0, 0;`,
      ),
    );
    for (const half of ['lo', 'hi']) {
      const operands = '%d0, %s0, %s1, %s2;';
      found.push(
        form(
          `mad.${half}.cc.${type}`,
          `${type} b${bits} <- ${type} ${type} ${type}`,
          `mad.${half}.cc.${type} ${operands}`,
          carryInto('%d1'),
        ),
        form(
          `madc.${half}.${type}`,
          `${type} <- ${type} ${type} ${type} flag`,
          ...carryFrom('%s3'),
          `madc.${half}.${type} ${operands}`,
        ),
        form(
          `madc.${half}.cc.${type}`,
          `${type} b${bits} <- ${type} ${type} ${type} flag`,
          ...carryFrom('%s3'),
          `madc.${half}.cc.${type} ${operands}`,
          carryInto('%d1'),
        ),
      );
    }
  }
  return found;
}

export const carryForms: readonly VectorForm[] = forms();
