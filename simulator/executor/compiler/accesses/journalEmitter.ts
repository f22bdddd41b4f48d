import { FunctionBuilder } from '../../../wasm/index.js';
import { AREA, JOURNAL_ENTRY, MAX_ACCESS_BYTES, RECORD, STOPPED } from '../area/index.js';

/** What an access is, in one word of its journal entry. */
export const JOURNAL_WHAT = {
  bytesMask: 0x3f,
  kindShift: 6,
  kinds: ['load', 'store', 'atomic'],
  instructionShift: 8,
} as const;

export type JournalKind = (typeof JOURNAL_WHAT.kinds)[number];

export function journalWhat(instruction: number, kind: JournalKind, bytes: number): number {
  return (
    (instruction << JOURNAL_WHAT.instructionShift) |
    (JOURNAL_WHAT.kinds.indexOf(kind) << JOURNAL_WHAT.kindShift) |
    bytes
  );
}

/**
 * (position, address, place in memory, what) → whether the run is to stop before this access. Otherwise writes an entry, with the
 * bytes that a store or atomic will replace; of a load only where the run traces loads. `flush` empties the journal when the next entry might not fit.
 */
export function journalFunction(flush: number): FunctionBuilder {
  const f = new FunctionBuilder(['i64', 'i64', 'i32', 'i32'], ['i32']);
  const [position, address, at, what] = [0, 1, 2, 3];
  const [entry, old, left] = [f.local('i32'), f.local('i32'), f.local('i32')];
  f.get(position).area().memory('i64Load', RECORD.stopAt).op('i64GeS').if();
  f.area().i32(STOPPED).memory('i32Store', RECORD.faultCode);
  f.i32(1).op('return').end();
  isLoad(f, what);
  f.area().memory('i32Load', RECORD.tracesLoads).op('i32Eqz').op('i32And').if();
  f.i32(0).op('return').end();
  f.area()
    .memory('i32Load', RECORD.journalNext)
    .i32(AREA.journalEnd - JOURNAL_ENTRY.bytes)
    .op('i32GtU');
  f.area()
    .memory('i32Load', RECORD.journalOldNext)
    .i32(AREA.journalOldEnd - MAX_ACCESS_BYTES)
    .op('i32GtU')
    .op('i32Or');
  f.if();
  f.call(flush).end();
  f.area().memory('i32Load', RECORD.journalNext).area().op('i32Add').set(entry);
  f.get(entry).get(position).memory('i64Store', JOURNAL_ENTRY.position);
  f.get(entry).get(address).memory('i64Store', JOURNAL_ENTRY.address);
  f.get(entry).get(what).memory('i32Store', JOURNAL_ENTRY.what);
  f.get(entry).i32(-1).memory('i32Store', JOURNAL_ENTRY.old);
  f.area().area().memory('i32Load', RECORD.journalNext);
  f.i32(JOURNAL_ENTRY.bytes).op('i32Add').memory('i32Store', RECORD.journalNext);
  isLoad(f, what);
  f.if();
  f.i32(0).op('return').end();
  f.area().memory('i32Load', RECORD.journalOldNext).set(old);
  f.get(entry).get(old).memory('i32Store', JOURNAL_ENTRY.old);
  f.get(what).i32(JOURNAL_WHAT.bytesMask).op('i32And').set(left);
  f.area().get(old).get(left).op('i32Add').memory('i32Store', RECORD.journalOldNext);
  f.get(old).area().op('i32Add').set(old);
  copyBytes(f, old, at, left);
  f.i32(0);
  return f;
}

function isLoad(f: FunctionBuilder, what: number): void {
  f.get(what)
    .i32(3 << JOURNAL_WHAT.kindShift)
    .op('i32And')
    .op('i32Eqz');
}

/** Copies 1, 2, 4 or a multiple of 8 bytes; moves both places on. */
function copyBytes(f: FunctionBuilder, to: number, from: number, left: number): void {
  const sizes = [
    [4, 'i32Load', 'i32Store'],
    [2, 'i32Load16U', 'i32Store16'],
    [1, 'i32Load8U', 'i32Store8'],
  ] as const;
  const done = f.block();
  const again = f.loop();
  f.get(left).i32(8).op('i32GeU').if();
  f.get(to).get(from).memory('i64Load', 0).memory('i64Store', 0);
  for (const local of [to, from]) f.get(local).i32(8).op('i32Add').set(local);
  f.get(left).i32(8).op('i32Sub').set(left).br(again).end();
  f.end();
  for (const [bytes, load, store] of sizes) {
    f.get(left).i32(bytes).op('i32Eq').if();
    f.get(to).get(from).memory(load, 0).memory(store, 0);
    f.br(done).end();
  }
  f.end();
}
