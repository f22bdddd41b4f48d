/**
 * The 64 bits of an mbarrier. PTX leaves them open; these are those that the code which ptxas makes of `mbarrier.init` writes
 * on sm_90: bits 1 to 20 the arrivals that a phase expects, bits 43 to 62 those that are pending, both as 2^20 less their
 * number, and bit 63 the parity of the phase, into which the last arrival carries. What lies between is the count of bytes
 * that are to come, as 22 bits of two's complement, and as ours alone.
 */
export const MBARRIER = {
  expected: { at: 1, bits: 20 },
  transactions: { at: 21, bits: 22 },
  pending: { at: 43, bits: 20 },
  phase: { at: 63, bits: 1 },
  /** Of the operand: bits 0 to 31 are added to the bytes to come, these arrive, and with bit 63 they never come again. */
  arrivals: { at: 32, bits: 20 },
} as const;

interface Field {
  readonly at: number;
  readonly bits: number;
}

function read(state: bigint, { at, bits }: Field): bigint {
  return BigInt.asUintN(bits, state >> BigInt(at));
}

function put(value: bigint, { at, bits }: Field): bigint {
  return BigInt.asUintN(bits, value) << BigInt(at);
}

/**
 * What an mbarrier becomes by an operation on it. Its phase is over once nothing is pending and no byte is to come, whichever
 * of the two comes last; the next one expects as many arrivals.
 */
export function advanceMbarrier(state: bigint, operation: bigint): bigint {
  const arrivals = read(operation, MBARRIER.arrivals);
  const drops = BigInt.asIntN(64, operation) < 0n;
  const expected = BigInt.asUintN(20, read(state, MBARRIER.expected) + (drops ? arrivals : 0n));
  const pending = BigInt.asUintN(20, read(state, MBARRIER.pending) + arrivals);
  const transactions = BigInt.asUintN(22, read(state, MBARRIER.transactions) + operation);
  const phase = read(state, MBARRIER.phase);
  const isOver = pending === 0n && transactions === 0n;
  return (
    put(isOver ? phase ^ 1n : phase, MBARRIER.phase) |
    put(isOver ? expected : pending, MBARRIER.pending) |
    put(transactions, MBARRIER.transactions) |
    put(expected, MBARRIER.expected)
  );
}
