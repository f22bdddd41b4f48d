import { blockNumberOf } from '../clusters.js';
import { FAULTS, RECORD } from '../compiler/index.js';
import type { Dim3, FaultCode, KernelFault } from '../types.js';
import type { BlockLaunch } from './blockLaunch.js';
import type { LaunchArea } from './launchArea.js';

const addressed = new Set<FaultCode>([
  'illegalAddress',
  'misalignedAddress',
  'writeToReadOnly',
  'sharedOutOfBounds',
  'localOutOfBounds',
  'clusterBlockNotPresent',
]);

const meanings: Readonly<Record<FaultCode, string>> = {
  illegalAddress: 'nothing is mapped at',
  misalignedAddress: 'the access size does not divide the address',
  writeToReadOnly: 'a write to read-only memory at',
  sharedOutOfBounds: 'outside the shared memory of the block: offset',
  localOutOfBounds: 'outside the local memory of the thread: offset',
  clusterBlockNotPresent: 'no block of the cluster that has not ended holds shared address',
  divergentBarrier: 'lanes of one warp wait at different places',
  fuelExhausted: 'the block used up its instruction budget; the kernel may never end',
  trap: 'the kernel executed a trap',
  assertion: 'an assertion of the kernel failed',
  illegalInstruction: 'a jump or call to what is no target of it',
  stackOverflow: 'calls nest deeper than the stack of a thread',
  deadlock: 'threads wait for others that will never come',
  unsupportedInstruction: 'an instruction that is not supported',
  transientFault: 'the device failed',
};

/** The fault that compiled code left in the launch record. */
export function readFault(area: LaunchArea, launch: BlockLaunch): KernelFault {
  const code = FAULTS[area.get(RECORD.faultCode) - 1] ?? 'trap';
  const address = addressed.has(code) ? area.wideExact(RECORD.faultAddress) : undefined;
  return makeFault(
    area,
    launch,
    code,
    area.get(RECORD.faultInstruction),
    area.get(RECORD.faultThread),
    address,
    area.faultDetail,
  );
}

/** The same, and which block of the grid has it. */
export function faultOf(area: LaunchArea, launch: BlockLaunch): { fault: KernelFault; block: number } {
  const fault = readFault(area, launch);
  return { fault, block: blockNumberOf(launch, fault.block) };
}

/** A fault of the running block, told in one sentence. */
export function makeFault(
  area: LaunchArea,
  launch: BlockLaunch,
  code: FaultCode,
  instructionIndex: number,
  thread: number,
  address?: bigint,
  detail?: string,
): KernelFault {
  const { kernel, shape, module } = launch;
  const instruction = kernel.instructions[instructionIndex];
  const block: Dim3 = [area.get(RECORD.ctaid), area.get(RECORD.ctaid + 4), area.get(RECORD.ctaid + 8)];
  const [x, y] = shape.block;
  const at: Dim3 = [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
  const ptxLine = instruction?.line ?? kernel.line;
  const text =
    instruction === undefined ? '' : `${[instruction.opcode, ...instruction.modifiers].join('.')}: `;
  const what = `${meanings[code]}${address === undefined ? '' : ` 0x${address.toString(16)}`}${detail === undefined ? '' : `: ${detail}`}`;
  return {
    code,
    kernel: kernel.name,
    message:
      `${kernel.name} at ${module.ir.file}:${ptxLine}, block (${block.join(', ')}), thread (${at.join(', ')}): ` +
      text +
      what,
    block,
    thread: at,
    ptxFile: module.ir.file,
    ptxLine,
    ...(address === undefined ? {} : { address: Number(address) }),
  };
}
