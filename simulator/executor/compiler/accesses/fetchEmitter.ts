import type { IrInstruction, IrOperand } from '../../../ptx/index.js';
import { fetchCode } from '../../textures/index.js';
import { FETCH } from '../area/index.js';
import type { ImportedOperations } from '../hostCalls/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import type { MemorySurroundings } from './addressEmitter.js';

/** Asks a texture unit for one lane: operands and results cross in the executor's area, whatever type they have as words. */
export function emitFetch(
  emit: OperandEmitter,
  around: MemorySurroundings,
  instruction: IrInstruction,
  imported: ImportedOperations,
): void {
  const { f } = emit;
  const [handle, ...others] = instruction.sources;
  const [destination] = instruction.destinations;
  f.area();
  emit.use(handle, 'b64');
  f.memory('i64Store', FETCH.handle);
  others.flatMap(elementsOf).forEach((each, index) => {
    f.area();
    emit.use(each, 'b32', true);
    f.memory('i32Store', FETCH.operands + 4 * index);
  });
  f.i32(fetchCode(instruction)).call(imported.fetchTexture).if();
  around.leaveWithFault(instruction);
  f.end();
  const isPair = destination?.kind === 'pair';
  if (instruction.opcode === 'surfplace') {
    f.area().memory('i64Load', FETCH.results);
    emit.assign(isPair ? destination.first : destination, 'b64');
    if (!isPair) return;
    f.area().memory('i32Load', FETCH.results + 8);
    emit.assign(destination.second, 'pred');
    return;
  }
  const type = instruction.opcode === 'istypep' ? 'pred' : 'b32';
  elementsOf(destination).forEach((each, index) => {
    if (each.kind === 'sink') return;
    f.area().memory('i32Load', FETCH.results + 4 * index);
    emit.assign(each, type);
  });
}

function elementsOf(operand: IrOperand | undefined): readonly IrOperand[] {
  if (operand === undefined) return [];
  return operand.kind === 'vector' ? operand.elements : [operand];
}
