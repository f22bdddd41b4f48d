import type { ExpansionText } from './expansion.js';
import type { ParsedInstruction } from './instructionParser.js';
import { tensorCopy } from './tensorCopies.js';

/** Bytes that a copy moves at a time; its addresses and length are multiples of it. */
const PIECE = 16;
/** What a reduction loads and combines at a time: two halves a word, of four words. */
const HALVES = 'v4';

/**
 * Bulk copies, bulk reductions, `st.async` and `red.async`, made where they are issued: a loop over pieces, each an access of
 * the thread that asks, and then the bytes are told to the mbarrier. So every checker, journal and verdict sees the whole
 * range. An address or length that is no multiple of 16 is a misaligned access.
 * @returns why it cannot run; 'none' where it is no such instruction
 */
export function bulkCopy(parsed: ParsedInstruction, text: ExpansionText): string | undefined {
  const { opcode, modifiers } = parsed;
  if (opcode !== 'cp') return single(parsed, text);
  if (!modifiers.includes('bulk')) return 'none';
  if (modifiers.includes('tensor')) return tensorCopy(parsed, text);
  if (modifiers.includes('prefetch')) return prefetch(parsed, text);
  const [to, from] = modifiers.filter((each) => /^(?:global|shared::cta|shared::cluster)$/.test(each));
  if (to === undefined || from === undefined) return 'both spaces are written: where to and where from';
  const isToShared = to !== 'global';
  if (
    isToShared === modifiers.includes('bulk_group') ||
    (!isToShared && from === 'global') ||
    from === 'shared::cluster'
  )
    return `a copy of this kind does not go from .${from} to .${to}`;
  return range(parsed, to, from, text);
}

function single(parsed: ParsedInstruction, text: ExpansionText): string | undefined {
  const { opcode, modifiers, types, sources } = parsed;
  const [place, value, barrier] = sources;
  if (sources.length !== 3) return 'none';
  if (!text.address('%to', place, 32) || !text.address('%bar', barrier, 32))
    return 'addresses stand in brackets';
  const type = types.at(-1) ?? 'b32';
  const width = Number(modifiers.find((each) => /^v[24]$/.test(each))?.slice(1) ?? 1);
  const operation = modifiers.filter((each) => /^(?:v[24]|and|or|xor|add|inc|dec|min|max)$/.test(each));
  text.add(
    `${[opcode, 'shared::cluster', ...operation, type].join('.')} [%to], ${text.value('%value', value)};`,
  );
  complete(String((Number(type.slice(1)) / 8) * width), text);
  return undefined;
}

function prefetch({ sources }: ParsedInstruction, text: ExpansionText): string | undefined {
  if (sources.length !== 2) return 'none';
  if (!text.address('%from', sources[0], 64)) return 'addresses stand in brackets';
  text.add('prefetch.global.L2 [%from];');
  return undefined;
}

function range(parsed: ParsedInstruction, to: string, from: string, text: ExpansionText): string | undefined {
  const { modifiers, sources } = parsed;
  const [target, source, size, barrier] = sources;
  const [toBits, fromBits] = [to, from].map((space) => (space === 'global' ? 64 : 32));
  if (size === undefined || (barrier === undefined) !== (to === 'global')) return 'none';
  if (
    !text.address('%to', target, toBits === 64 ? 64 : 32) ||
    !text.address('%from', source, fromBits === 64 ? 64 : 32)
  )
    return 'addresses stand in brackets';
  if (barrier !== undefined && !text.address('%bar', barrier, 32)) return 'addresses stand in brackets';
  text.add(
    '.reg .pred %go;\n.reg .b32 %rest, %misfit;',
    `mov.u32 %rest, ${text.value('%size', size)};`,
    'setp.eq.u32 %go, %rest, 0;\n@%go bra $copied;',
  );
  const isReduction = modifiers.includes('reduce');
  // Elements are narrower than what all must be a multiple of: what is not makes the first one misaligned.
  if (isReduction)
    text.add(
      `.reg .b32 %word;\ncvt.u32.u${toBits} %word, %to;\nor.b32 %misfit, %from, %word;`,
      `or.b32 %misfit, %misfit, %rest;\nand.b32 %misfit, %misfit, ${PIECE - 1};\nmin.u32 %misfit, %misfit, 1;`,
      'or.b32 %from, %from, %misfit;',
    );
  // A copy's addresses are misaligned by themselves; sums, unlike unions of bits, can be followed by verdicts.
  else if (size.kind !== 'integer' || size.low % PIECE !== 0)
    text.add(
      `and.b32 %misfit, %rest, ${PIECE - 1};`,
      fromBits === 64
        ? '.reg .b64 %wide;\ncvt.u64.u32 %wide, %misfit;\nadd.u64 %from, %from, %wide;'
        : 'add.u32 %from, %from, %misfit;',
    );
  text.add('$piece:');
  const bytes = isReduction ? combine(parsed, to, text) : move(to, from, text);
  if (typeof bytes === 'string') return bytes;
  text.add(
    `add.u${fromBits} %from, %from, ${bytes};\nadd.u${toBits} %to, %to, ${bytes};`,
    `sub.u32 %rest, %rest, ${bytes};\nsetp.ne.u32 %go, %rest, 0;\n@%go bra $piece;`,
    '$copied:',
  );
  if (barrier !== undefined) complete(text.value('%size', size), text);
  return undefined;
}

function move(to: string, from: string, text: ExpansionText): number {
  text.add(
    '.reg .b64 %low, %high;',
    `ld.${from}.v2.b64 {%low, %high}, [%from];\nst.${to}.v2.b64 [%to], {%low, %high};`,
  );
  return PIECE;
}

/** @returns the bytes of a step, or why there is no such reduction */
function combine({ modifiers, types }: ParsedInstruction, to: string, text: ExpansionText): number | string {
  const operation = modifiers.find((each) => /^(?:and|or|xor|add|inc|dec|min|max)$/.test(each)) ?? '';
  const type = types.at(-1) ?? 'b32';
  const known: Readonly<Record<string, RegExp>> = {
    add: to === 'global' ? /^(?:b?f16|f32|f64|[us]32|u64|s64)$/ : /^(?:[us]32|u64)$/,
    min: to === 'global' ? /^(?:b?f16|[us](?:32|64))$/ : /^[us]32$/,
    inc: /^u32$/,
    and: to === 'global' ? /^b(?:32|64)$/ : /^b32$/,
  };
  const family =
    operation === 'max'
      ? 'min'
      : operation === 'dec'
        ? 'inc'
        : /^(?:or|xor)$/.test(operation)
          ? 'and'
          : operation;
  if (known[family]?.test(type) !== true) return `there is no bulk .${operation} of .${type} to .${to}`;
  const space = to === 'global' ? 'relaxed.gpu.global' : `relaxed.cluster.${to}`;
  if (/f16$/.test(type)) {
    if (operation === 'add' && !modifiers.includes('noftz'))
      return `.${operation} of .${type} is written with .noftz`;
    text.add(
      '.reg .b32 %w0, %w1, %w2, %w3;',
      'ld.shared::cta.v4.b32 {%w0, %w1, %w2, %w3}, [%from];',
      `red.${space}.${operation}.noftz.${HALVES}.${type}x2 [%to], {%w0, %w1, %w2, %w3};`,
    );
    return PIECE;
  }
  const bits = Number(type.slice(1));
  text.add(
    `.reg .b${bits} %element;`,
    `ld.shared::cta.b${bits} %element, [%from];`,
    // A sum of 64 bits is the same with a sign.
    `red.${space}.${operation}.${operation === 'add' && type === 's64' ? 'u64' : type} [%to], %element;`,
  );
  return bits / 8;
}

/** Tells the mbarrier of bytes that have come; whoever sees its phase end sees them. */
function complete(bytes: string, text: ExpansionText): void {
  text.add(
    '.reg .b32 %missing;\n.reg .b64 %operation;',
    `neg.s32 %missing, ${bytes};`,
    'cvt.u64.u32 %operation, %missing;',
    'mbarrier.advance.release.cluster.shared::cluster.b64 _, [%bar], %operation;',
  );
}
