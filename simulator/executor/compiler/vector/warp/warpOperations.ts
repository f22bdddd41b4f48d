import { exchangesValues, isBarrier, memberMask, type ValueExchange } from '../../../../ptx/index.js';
import type { IrInstruction } from '../../../../ptx/index.js';
import { emitActiveMask, emitElection, emitMatch, emitReduction, emitVote } from './agreements.js';
import { emitShuffle } from './shuffles.js';
import { WARP_GROUPS, type WarpValues } from './warpValues.js';

/** Whether an instruction is done for a whole warp at once when its 32 lanes are together. */
export function isTogetherOperation({ opcode, modifiers }: IrInstruction): boolean {
  return exchangesValues(opcode) || (isBarrier(opcode) && modifiers.includes('warp'));
}

/** Whether the operation names all lanes, or none, whatever registers hold. */
export function namesWholeWarp(instruction: IrInstruction): boolean {
  const members = memberMask(instruction);
  return members === undefined || (members.kind === 'integer' && members.low === -1);
}

/** Pushes whether every lane names all lanes. */
export function pushNamesAll(values: WarpValues, instruction: IrInstruction): void {
  const members = memberMask(instruction);
  for (let group = 0; group < WARP_GROUPS; group++) {
    values.use(members, 'b32', group);
    if (group > 0) values.f.simd('v128And');
  }
  values.f.simd('v128Not').simd('v128AnyTrue').op('i32Eqz');
}

/** Writes a warp operation for all 32 lanes, which are together. */
export function emitWarpOperation(values: WarpValues, instruction: IrInstruction): void {
  const { opcode } = instruction;
  // A barrier of a warp gives nothing.
  if (exchangesValues(opcode)) emitters[opcode](values, instruction);
}

type WarpEmitter = (values: WarpValues, instruction: IrInstruction) => void;

const emitters: Readonly<Record<ValueExchange, WarpEmitter>> = {
  shfl: emitShuffle,
  vote: emitVote,
  match: emitMatch,
  redux: emitReduction,
  elect: emitElection,
  activemask: emitActiveMask,
};
