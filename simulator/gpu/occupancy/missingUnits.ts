import { isLoad, isStore, isUpdate, isa } from '../../ptx/index.js';
import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';

/** The first instruction of a kernel that needs a unit which some cards lack. */
interface Needs {
  readonly float64: IrInstruction | undefined;
  readonly atomics: IrInstruction | undefined;
}

const needs = new WeakMap<IrFunction, Needs>();

/**
 * Old cards have no double precision and no atomics; their compilers refuse such kernels, too.
 * @throws GpuError `invalidLaunch`
 */
export function requireUnits({ name, timing }: DeviceProfile, kernel: IrFunction): void {
  if (timing.float64PerCycle > 0 && timing.atomicsPerCycle > 0) return;
  let needed = needs.get(kernel);
  if (needed === undefined) needs.set(kernel, (needed = needsOf(kernel)));
  const { float64, atomics } = needed;
  if (timing.float64PerCycle === 0 && float64 !== undefined) throw missing('double precision', float64);
  if (timing.atomicsPerCycle === 0 && atomics !== undefined) throw missing('atomics', atomics);

  function missing(what: string, { opcode, line }: IrInstruction): GpuError {
    return new GpuError(
      'invalidLaunch',
      `kernel: '${kernel.name}' needs ${what} (line ${line}: ${opcode}), which ${name} has not`,
      'kernel',
    );
  }
}

function needsOf({ instructions }: IrFunction): Needs {
  return {
    float64: instructions.find(({ opcode, types }) => types.includes('f64') && !onlyMoves(opcode)),
    atomics: instructions.find(({ opcode }) => isUpdate(opcode)),
  };
}

/** Moves doubles about and calculates nothing. */
function onlyMoves(opcode: string): boolean {
  return isLoad(opcode) || isStore(opcode) || isa(opcode).syntax.isMove;
}
