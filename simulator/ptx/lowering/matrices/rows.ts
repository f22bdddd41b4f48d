import type { IrInstruction, IrOperand } from '../../ir.js';
import { registersOf } from '../../matrixRules.js';
import { integer } from '../../literals.js';
import type { MatrixCode } from './code.js';

/**
 * `ldmatrix` and `stmatrix` (PTX ISA 9.7.14.5.15 and 16): of matrix i the rows are where lanes 8i to 8i + 7 point, a lane has the halves 2·own
 * and one on of row `group`; with `.trans` of the turned matrix, so that it has those of two rows.
 */
export function carryRows(
  { opcode, modifiers, destinations, sources }: IrInstruction,
  code: MatrixCode,
  bitsOf: (register: number) => number,
): void {
  const isLoad = opcode === 'ldmatrix';
  const registers = registersOf(isLoad ? destinations[0] : sources[1]);
  const isTurned = modifiers.includes('trans');
  const isShared = modifiers.some((each) => each.startsWith('shared'));
  const row = sharedAddress(sources[0], code, isShared, bitsOf);
  const parts = registers.flatMap(() => (isTurned ? [0, 1] : [0])).map(() => code.temporary('b32'));
  code.act(
    `matrixrows.sync.x${registers.length}${isTurned ? '.trans' : ''}`,
    [{ kind: 'vector', elements: parts }],
    [row],
  );
  const address = (part: number): IrOperand => ({
    kind: 'address',
    base: parts[part]?.register,
    offset: 0,
  });
  registers.forEach((register, matrix) => {
    if (!isTurned) {
      if (isLoad) code.act('ld.shared.b32', [register], [address(matrix)]);
      else code.act('st.shared.b32', [], [address(matrix), register]);
      return;
    }
    const halves = [code.temporary('b16'), code.temporary('b16')] as const;
    const pair: IrOperand = { kind: 'vector', elements: halves };
    if (!isLoad) code.act('mov.b32', [pair], [register]);
    halves.forEach((half, which) => {
      const at = address(2 * matrix + which);
      if (isLoad) code.act('ld.shared.b16', [half], [at]);
      else code.act('st.shared.b16', [], [at, half]);
    });
    if (isLoad) code.act('mov.b32', [register], [pair]);
  });
}

/** The row's place in the block's shared memory, in 32 bits. */
function sharedAddress(
  operand: IrOperand | undefined,
  code: MatrixCode,
  isShared: boolean,
  bitsOf: (register: number) => number,
): IrOperand {
  if (operand?.kind !== 'address') throw new RangeError('a row lies at an address');
  const { base, offset } = operand;
  if (base === undefined) return integer(offset);
  if (typeof base === 'string') return code.compute('mov.u32', 'b32', { kind: 'symbol', name: base, offset });
  const register: IrOperand = { kind: 'register', register: base };
  if (bitsOf(base) === 32)
    return offset === 0 ? register : code.compute('add.u32', 'b32', register, integer(offset));
  const whole = offset === 0 ? register : code.compute('add.u64', 'b64', register, integer(offset));
  const shared = isShared ? whole : code.compute('cvta.to.shared.u64', 'b64', whole);
  return code.compute('cvt.u32.u64', 'b32', shared);
}
