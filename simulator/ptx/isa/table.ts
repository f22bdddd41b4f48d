import { arithmetic } from './arithmetic.js';
import { bits } from './bits.js';
import { control } from './control.js';
import { conversions } from './conversions.js';
import { exchanges } from './exchanges.js';
import { refusedByName, replacedByOthers, runtimeCalls, unknownOpcode } from './formless.js';
import { matrices } from './matrices.js';
import { mbarriers } from './mbarriers.js';
import { memory } from './memory.js';
import type { EffectKind, Row } from './row.js';
import { textures } from './textures.js';
import { videos } from './video.js';

/** One row an opcode: all that the simulator knows of it. */
const rows = {
  ...arithmetic,
  ...bits,
  ...conversions,
  ...videos,
  ...control,
  ...exchanges,
  ...matrices,
  ...memory,
  ...textures,
  ...mbarriers,
  ...runtimeCalls,
  ...replacedByOthers,
  ...refusedByName,
} satisfies Readonly<Record<string, Row>>;

type Rows = typeof rows;

/** The opcodes that have a row. */
export type Opcode = keyof Rows;

/** Those of some kinds of effects: a table of emitters that is typed by it does not compile while one is missing. */
export type OpcodeOf<K extends EffectKind> = {
  [O in Opcode]: Rows[O]['effects']['kind'] extends K ? O : never;
}[Opcode];

/** Exchanges of matrices that lie in registers. */
export type MatrixExchange = Extract<OpcodeOf<'exchange'>, keyof typeof matrices>;

/** Exchanges of a value. */
export type ValueExchange = Exclude<OpcodeOf<'exchange'>, MatrixExchange>;

/** Written out, so that all are objects of one shape: every instruction of a kernel is asked many times. */
function shaped({ forms, formless, effects, syntax, counted, cost, registers, ...others }: Row): Row {
  const { isUniform, nanBits, pointers, taint, watch, heldBy } = others;
  const { kind, reads, writes, isReadOnly, meets, isAligned, control, isAgreed, isAsync } = effects;
  return {
    forms,
    effects: { kind, reads, writes, isReadOnly, meets, isAligned, control, isAgreed, isAsync },
    syntax,
    counted,
    cost,
    registers,
    isUniform,
    nanBits,
    pointers,
    taint,
    watch,
    heldBy,
    ...(formless === undefined ? {} : { formless }),
  };
}

const byOpcode: ReadonlyMap<string, Row> = new Map(
  Object.entries<Row>(rows).map(([opcode, row]) => [opcode, shaped(row)]),
);
const unknown = shaped(unknownOpcode);

/** All rows, by opcode, in the order of their families. */
export const isaRows: ReadonlyMap<string, Row> = byOpcode;

/** What is known of a base opcode; of one without a row, that it may do anything. */
export function isa(opcode: string): Row {
  return byOpcode.get(opcode) ?? unknown;
}
