import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { RuntimeFault, type ThreadMemory } from '../deviceRuntime/index.js';
import { LaneFault } from './faults.js';
import type { LaneEffect, MemoryContext } from './laneInstructions.js';
import { loadBits, splitGeneric } from './memorySpaces.js';
import type { SymbolAddress } from './operands.js';
import { operandReader, operandWriter, threadOf } from './operands.js';
import { forEachLane } from './warp.js';

/**
 * What an instruction that stands for a call of CUDA's device runtime does for lanes that have come to it together, one
 * after another; undefined for all others.
 */
export function runtimeCall(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ((context: MemoryContext, group: number) => void) | undefined {
  const effect = laneEffect(instruction, fn, symbols);
  if (effect === undefined) return undefined;
  return (context, group) =>
    forEachLane(group, (lane) => {
      try {
        effect(context, lane);
      } catch (error) {
        throw laneFault(error, lane);
      }
    });
}

/** What went wrong, as a fault of a lane where it is one. */
function laneFault(error: unknown, lane: number): unknown {
  const fault =
    error instanceof RuntimeFault ? new LaneFault(error.code, error.message, error.address) : error;
  if (fault instanceof LaneFault) fault.lane = lane;
  return fault;
}

function laneEffect(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): LaneEffect | undefined {
  if (!/^(?:vprintf|malloc|free|assertfail)$/.test(instruction.opcode)) return undefined;
  const { opcode, sources, destinations } = instruction;
  const [a, b, c, d] = sources.map((source) => {
    const read = operandReader(
      source,
      opcode === 'assertfail' && source === sources[2] ? 'u32' : 'u64',
      symbols,
    );
    return (context: MemoryContext, lane: number): number => Number(read(context, lane));
  });
  const zero = (): number => 0;
  const [first, second, third, fourth] = [a ?? zero, b ?? zero, c ?? zero, d ?? zero];
  switch (opcode) {
    case 'vprintf': {
      const write = operandWriter(destinations[0] ?? { kind: 'sink' }, 'b32', fn);
      return (context, lane) => {
        const [format, args] = [first(context, lane), second(context, lane)];
        write(context, lane, context.runtime.vprintf(memoryOf(context, lane), format, args));
      };
    }
    case 'malloc': {
      const write = operandWriter(destinations[0] ?? { kind: 'sink' }, 'b64', fn);
      return (context, lane) => {
        const bytes = first(context, lane);
        const address = context.runtime.malloc(bytes);
        if (address !== 0) context.tellHeap(lane, 'malloc', address, bytes);
        write(context, lane, BigInt(address));
      };
    }
    case 'free':
      return (context, lane) => {
        const address = first(context, lane);
        const bytes = context.runtime.chunkBytes(address);
        if (address !== 0) context.tellHeap(lane, 'free', address, bytes);
        context.runtime.free(address);
      };
    case 'assertfail':
      return (context, lane) => {
        const { block, blockIndex } = context.identity;
        const place = { block: blockIndex, thread: threadOf(block, context.warp, lane) };
        const texts = [first(context, lane), second(context, lane), fourth(context, lane)] as const;
        context.runtime.assertfail(memoryOf(context, lane), texts, third(context, lane), place);
      };
    default:
      return undefined;
  }
}

/** A thread's memory by generic addresses; these reads are the host's and count as no access of the kernel. */
function memoryOf(context: MemoryContext, lane: number): ThreadMemory {
  return {
    read: (address, bytes) => {
      const split = splitGeneric(address);
      return loadBits(context.peek(lane, split.space, split.address, bytes), bytes);
    },
  };
}
