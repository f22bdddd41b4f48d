import { form, type VectorForm } from './vectorForm.js';

const pairs = [
  ['s32', 's32'],
  ['u32', 'u32'],
  ['s32', 'u32'],
  ['u32', 's32'],
] as const;

/**
 * The assembler writes these instructions in others. Where its code gives what the manual does not say (`.sat` of `vshl`
 * and before a part of d is written, `vset` into a part) or differs from case to case (a secondary `.min` or `.max` of any
 * types but .s32), the instruction is refused.
 */
function scalar(): VectorForm[] {
  const found: VectorForm[] = [];
  const push = (head: string, operands: string, c: boolean): void => {
    found.push(
      form(
        `${head} ${operands.replaceAll('%', '')}`,
        `b32 <- b32 b32${c ? ' b32' : ''}`,
        `${head} ${operands};`,
      ),
    );
  };
  for (const opcode of ['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax']) {
    for (const to of ['s32', 'u32']) {
      for (const [a, b] of pairs) {
        push(`${opcode}.${to}.${a}.${b}`, '%d0, %s0, %s1', false);
        push(`${opcode}.${to}.${a}.${b}.sat`, '%d0, %s0.b3, %s1.h1', false);
        push(`${opcode}.${to}.${a}.${b}.sat`, '%d0, %s0, %s1', false);
      }
    }
    push(`${opcode}.s32.s32.u32`, '%d0.h1, %s0.h0, %s1.b2, %s2', true);
    push(`${opcode}.s32.s32.s32`, '%d0.b1, %s0, %s1, %s2', true);
    push(`${opcode}.u32.u32.s32`, '%d0.b2, %s0.h1, %s1.b0, %s2', true);
    for (const second of ['add', 'min', 'max'])
      push(`${opcode}.s32.s32.s32.${second}`, '%d0, %s0.b0, %s1.b1, %s2', true);
    push(`${opcode}.u32.s32.u32.add`, '%d0, %s0, %s1.h0, %s2', true);
  }
  for (const opcode of ['vshl', 'vshr']) {
    for (const to of ['s32', 'u32']) {
      for (const a of ['s32', 'u32']) {
        for (const mode of ['clamp', 'wrap']) {
          push(`${opcode}.${to}.${a}.u32.${mode}`, '%d0, %s0, %s1', false);
          push(`${opcode}.${to}.${a}.u32.${mode}`, '%d0, %s0.h1, %s1.b0', false);
          if (opcode === 'vshr') push(`vshr.${to}.${a}.u32.sat.${mode}`, '%d0, %s0, %s1', false);
        }
      }
    }
    push(`${opcode}.u32.u32.u32.clamp.add`, '%d0, %s0, %s1.b1, %s2', true);
    push(`${opcode}.s32.s32.u32.wrap`, '%d0.h0, %s0, %s1, %s2', true);
  }
  for (const to of ['s32', 'u32']) {
    for (const [a, b] of pairs) {
      push(`vmad.${to}.${a}.${b}`, '%d0, %s0.h0, %s1.b1, %s2', true);
      push(`vmad.${to}.${a}.${b}.sat.shr7`, '%d0, %s0.h1, %s1.h0, %s2', true);
    }
  }
  push('vmad.s32.s32.s32.shr15', '%d0, %s0, %s1, %s2', true);
  push('vmad.s32.s32.s32.sat', '%d0, %s0, -%s1.b0, %s2', true);
  push('vmad.s32.s32.s32', '%d0, %s0.h0, %s1.h1, -%s2', true);
  push('vmad.u32.u32.u32.po', '%d0, %s0.b0, %s1.b1, %s2', true);
  for (const how of ['eq', 'ne', 'lt', 'le', 'gt', 'ge']) {
    push(`vset.s32.s32.${how}`, '%d0, %s0.b1, %s1.h1', false);
    push(`vset.u32.s32.${how}`, '%d0, %s0, %s1', false);
    push(`vset.s32.u32.${how}`, '%d0, %s0.h0, %s1', false);
    push(`vset.u32.u32.${how}`, '%d0, %s0, %s1.b3', false);
  }
  for (const second of ['add', 'min', 'max']) push(`vset.u32.u32.lt.${second}`, '%d0, %s0, %s1, %s2', true);
  return found;
}

function packed(): VectorForm[] {
  const found: VectorForm[] = [];
  const push = (head: string, operands: string): void => {
    found.push(form(`${head} ${operands.replaceAll('%', '')}`, 'b32 <- b32 b32 b32', `${head} ${operands};`));
  };
  for (const size of [2, 4]) {
    const mask = size === 2 ? '.h1' : '.b20';
    const pick = size === 2 ? ['.h13', '.h20'] : ['.b7140', '.b3625'];
    for (const opcode of ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax']) {
      for (const [a, b] of pairs) {
        for (const to of ['s32', 'u32']) {
          push(`${opcode}${size}.${to}.${a}.${b}`, '%d0, %s0, %s1, %s2');
          push(`${opcode}${size}.${to}.${a}.${b}.add`, '%d0, %s0, %s1, %s2');
          push(`${opcode}${size}.${to}.${a}.${b}.sat`, '%d0, %s0, %s1, %s2');
        }
      }
      push(`${opcode}${size}.s32.s32.u32`, `%d0${mask}, %s0${pick[0] ?? ''}, %s1${pick[1] ?? ''}, %s2`);
      push(`${opcode}${size}.u32.u32.u32.add`, `%d0, %s0, %s1, %s2`);
      push(`${opcode}${size}.s32.s32.s32.add`, `%d0${mask}, %s0, %s1, %s2`);
    }
    for (const how of ['eq', 'ne', 'lt', 'le', 'gt', 'ge']) {
      push(`vset${size}.s32.s32.${how}`, '%d0, %s0, %s1, %s2');
      push(`vset${size}.u32.s32.${how}`, '%d0, %s0, %s1, %s2');
      push(`vset${size}.s32.u32.${how}`, '%d0, %s0, %s1, %s2');
      push(`vset${size}.u32.u32.${how}`, '%d0, %s0, %s1, %s2');
      push(`vset${size}.u32.u32.${how}.add`, `%d0, %s0, %s1, %s2`);
    }
  }
  return found;
}

export const videoForms: readonly VectorForm[] = [...scalar(), ...packed()];
