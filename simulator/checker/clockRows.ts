/** A clock for each thread of a block, in rows of a warp; a missing row is all zeros. Never changed once made. */
export type ClockRows = readonly (Int32Array | undefined)[];

/** The later of two, thread by thread. Rows that both share are not copied. */
export function joinRows(a: ClockRows | undefined, b: ClockRows | undefined): ClockRows | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  const length = Math.max(a.length, b.length);
  const joined: (Int32Array | undefined)[] = [];
  for (let warp = 0; warp < length; warp++) joined.push(joinRow(a[warp], b[warp]));
  return joined;
}

function joinRow(a: Int32Array | undefined, b: Int32Array | undefined): Int32Array | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  return a.map((clock, lane) => Math.max(clock, b[lane] ?? 0));
}

/** Rows in which the given threads are at least at their `clocks`. */
export function rowsWith(
  rows: ClockRows | undefined,
  threads: readonly number[],
  clocks: Int32Array,
): ClockRows {
  const made = [...(rows ?? [])];
  const fresh = new Set<number>();
  for (const thread of threads) {
    const warp = thread >>> 5;
    let row = made[warp];
    if (row === undefined || !fresh.has(warp)) {
      row = row === undefined ? new Int32Array(32) : Int32Array.from(row);
      made[warp] = row;
      fresh.add(warp);
    }
    row[thread & 31] = Math.max(row[thread & 31] ?? 0, clocks[thread] ?? 0);
  }
  return made;
}
