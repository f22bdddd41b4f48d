import { isOfClusters } from '../../executor/index.js';
import { isLoad, isStore, isUpdate, isa } from '../../ptx/index.js';
import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';

/** The first instruction of a kernel that needs a unit which some cards lack. */
interface Needs {
  readonly float64: IrInstruction | undefined;
  readonly atomics: IrInstruction | undefined;
  readonly clusters: IrInstruction | undefined;
  readonly tensors: IrInstruction | undefined;
}

const needs = new WeakMap<IrFunction, Needs>();

/**
 * Old cards have no clusters, no tensor cores, no double precision and no atomics; their compilers refuse such kernels, too.
 * @throws GpuError `invalidLaunch`
 */
export function requireUnits({ name, timing, limits }: DeviceProfile, kernel: IrFunction): void {
  const { float64PerCycle, atomicsPerCycle, tensorPerCycle } = timing;
  if (Math.min(float64PerCycle, atomicsPerCycle, tensorPerCycle) > 0 && limits.clusterBlocks > 1) return;
  let needed = needs.get(kernel);
  if (needed === undefined) needs.set(kernel, (needed = needsOf(kernel)));
  const { float64, atomics, clusters, tensors } = needed;
  if (limits.clusterBlocks === 1 && clusters !== undefined) throw missing('clusters of blocks', clusters);
  if (tensorPerCycle === 0 && tensors !== undefined) throw missing('tensor cores', tensors);
  if (float64PerCycle === 0 && float64 !== undefined) throw missing('double precision', float64);
  if (atomicsPerCycle === 0 && atomics !== undefined) throw missing('atomics', atomics);

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
    clusters: instructions.find(isOfClusters),
    tensors: instructions.find(({ opcode }) => isa(opcode).cost === 'matrix'),
  };
}

/** Moves doubles about and calculates nothing. */
function onlyMoves(opcode: string): boolean {
  return isLoad(opcode) || isStore(opcode) || isa(opcode).syntax.isMove;
}
