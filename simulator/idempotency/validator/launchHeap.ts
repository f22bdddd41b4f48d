import type { AllocationMap } from './allocationMap.js';
import { IntervalRuntime } from './intervalRuntime.js';
import type { ValidatedLaunch } from './validatedLaunch.js';

/** Most bytes of a parameter space (PTX ISA, `.param` of kernels: 32,764 from sm_70 on). */
const MOST_PARAMETERS = 32_768;
/** Where things lie: bytes from the start. */
export const GIVEN_AT = MOST_PARAMETERS;
export const FOUND_AT = GIVEN_AT + 32;
export const DIMENSIONS_AT = FOUND_AT + 16;
export const HAS_MAP_AT = DIMENSIONS_AT + 24;
const INTERVALS_AT = HAS_MAP_AT + 8;
/** Of WebAssembly. */
const PAGE_BYTES = 65_536;
/** Of the heap that most validators have in common. */
const SHARED_PAGES = 4;

/**
 * Memory of generated code: arguments and dimensions of the launch that is judged, operands and results of longer operators, and
 * the intervals. Numbers in it are never boxed. What it holds is of one call only.
 */
export class LaunchHeap {
  readonly memory: WebAssembly.Memory;
  readonly buffer: ArrayBufferLike;
  readonly runtime: IntervalRuntime;
  private readonly bytes: Uint8Array;
  private readonly words: Int32Array;
  private readonly numbers: Float64Array;
  private readonly given: Float64Array;
  private readonly found: Float64Array;
  private map: AllocationMap | undefined;

  private constructor(pages: number) {
    // Shared, as the memory of all modules here is; no other thread has it.
    this.memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.buffer = this.memory.buffer;
    this.bytes = new Uint8Array(this.buffer);
    this.words = new Int32Array(this.buffer);
    this.numbers = new Float64Array(this.buffer);
    this.given = new Float64Array(this.buffer, GIVEN_AT, 4);
    this.found = new Float64Array(this.buffer, FOUND_AT, 2);
    this.runtime = new IntervalRuntime(this.given, this.found);
  }

  private static shared: LaunchHeap | undefined;

  /** One for all validators (they run one after another), or of its own for very many numbers. */
  static of(slots: number, symbols: number): LaunchHeap {
    const pages = Math.ceil((INTERVALS_AT + 16 * slots + 8 * symbols) / PAGE_BYTES);
    if (pages > SHARED_PAGES) return new LaunchHeap(pages);
    LaunchHeap.shared ??= new LaunchHeap(SHARED_PAGES);
    return LaunchHeap.shared;
  }

  /** First and last bytes of so many intervals. */
  ends(slots: number): { lo: Float64Array; hi: Float64Array } {
    return {
      lo: new Float64Array(this.buffer, INTERVALS_AT, slots),
      hi: new Float64Array(this.buffer, INTERVALS_AT + 8 * slots, slots),
    };
  }

  /** Puts a launch there, with `parameterBytes` of its parameter space and the addresses of `symbols` at `symbolsAt`. */
  enter(
    { params, shape, symbols, allocations }: ValidatedLaunch,
    parameterBytes: number,
    names: readonly string[],
    symbolsAt: number,
  ): void {
    const { bytes, words } = this;
    const length = Math.min(params.length, parameterBytes);
    for (let at = 0; at < length; at++) bytes[at] = params[at] ?? 0;
    for (let at = length; at < parameterBytes; at++) bytes[at] = 0;
    const at = DIMENSIONS_AT >> 2;
    words[at] = shape.block[0];
    words[at + 1] = shape.block[1];
    words[at + 2] = shape.block[2];
    words[at + 3] = shape.grid[0];
    words[at + 4] = shape.grid[1];
    words[at + 5] = shape.grid[2];
    for (let index = 0; index < names.length; index++)
      this.numbers[(symbolsAt >> 3) + index] = symbols?.get(names[index] ?? '') ?? NaN;
    this.map = allocations;
    words[HAS_MAP_AT >> 2] = allocations === undefined ? 0 : 1;
  }

  /** Number of the allocation that holds the address given, or −1. */
  readonly find = (): number => this.map?.find(this.given) ?? -1;

  /** Leaves first and last byte of the allocation whose number is given. */
  readonly allocation = (): void => {
    const index = this.given[0] ?? -1;
    this.found[0] = this.map?.first(index) ?? Infinity;
    this.found[1] = this.map?.last(index) ?? -Infinity;
  };
}

/** Where addresses of symbols lie behind so many intervals. */
export function symbolsAfter(slots: number): number {
  return INTERVALS_AT + 16 * slots;
}

/** Where the ends of an interval lie among so many. */
export function endsAt(slot: number, slots: number): readonly [number, number] {
  return [INTERVALS_AT + 8 * slot, INTERVALS_AT + 8 * (slots + slot)];
}
