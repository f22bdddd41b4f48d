import type { FunctionBuilder } from '../../../wasm/index.js';

/** How often each lane of a chunk has passed through a class of nodes that run under masks. */
export class MaskedPasses {
  private readonly counts: readonly number[];

  /**
   * @param together local with the passes of all lanes of the chunk together
   * @param slot offset in the area where the 32 lanes' passes lie while lanes run apart
   */
  constructor(
    private readonly f: FunctionBuilder,
    groups: number,
    private readonly together: number,
    private readonly slot: number,
  ) {
    this.counts = Array.from({ length: groups }, () => f.local('v128'));
  }

  pass(mask: readonly number[]): void {
    this.counts.forEach((count, group) => {
      this.f
        .get(count)
        .get(mask[group] ?? 0)
        .simd('i32x4Sub')
        .set(count);
    });
  }

  /** Pushes the lanes' passes together. */
  pushSum(): void {
    this.fold('i32x4Add');
    this.f
      .get(this.together)
      .i32(4 * this.counts.length)
      .op('i32Mul')
      .op('i32Add');
  }

  /** Pushes the passes of the lane that has most. */
  pushMost(): void {
    this.fold('i32x4MaxU');
    this.f.get(this.together).op('i32Add');
  }

  clear(): void {
    this.f.i32(0).set(this.together);
    for (const count of this.counts) this.f.v128(0, 0, 0, 0).set(count);
  }

  /** Leaves the passes for lanes that run apart from here. @param firstLane local with the chunk's first lane */
  leave(firstLane: number): void {
    this.counts.forEach((count, group) => {
      this.f
        .get(firstLane)
        .i32(2)
        .op('i32Shl')
        .area()
        .op('i32Add')
        .get(count)
        .get(this.together)
        .simd('i32x4Splat')
        .simd('i32x4Add');
      this.f.simdMemory('v128Store', this.slot + 16 * group);
    });
  }

  private fold(name: 'i32x4Add' | 'i32x4MaxU'): void {
    const { f } = this;
    const all = (this.total ??= f.local('v128'));
    this.counts.forEach((count, group) => {
      f.get(count);
      if (group > 0) f.simd(name);
    });
    f.tee(all).get(all).get(all).shuffleWords(2, 3, 0, 1).simd(name).tee(all);
    f.get(all).get(all).shuffleWords(1, 0, 3, 2).simd(name).simdLane('i32x4ExtractLane', 0);
  }

  private total: number | undefined;
}

/** Where nothing has been passed yet: clears the lanes' passes of a class. */
export function clearMaskedPasses(f: FunctionBuilder, slot: number): void {
  for (let group = 0; group < 8; group++)
    f.area()
      .v128(0, 0, 0, 0)
      .simdMemory('v128Store', slot + 16 * group);
}
