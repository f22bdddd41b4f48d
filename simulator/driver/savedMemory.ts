import { bytesOf, type MemoryRegions, type SavePlace } from '../faults/index.js';
import type { ContextTable } from './contextTable.js';
import type { ContextState, SavedRegions } from './driverState.js';

/** Copies of device memory, in an address space of their own where no kernel reaches them: on the GPU, or in the host's memory. */
export class SavedMemory {
  constructor(
    private readonly contexts: ContextTable,
    private readonly isDeclaredOnly: boolean,
    private readonly place: SavePlace,
  ) {}

  /** Takes room for regions. @returns undefined when the GPU, or the memory behind it, has none */
  allocate(context: ContextState, regions: MemoryRegions): SavedRegions | undefined {
    const bytes = bytesOf(regions);
    const address = this.contexts.takeSaveArea(context, bytes, this.place);
    return address === undefined ? undefined : { ...regions, address, bytes };
  }

  save(context: ContextState, saved: SavedRegions | undefined): void {
    this.copy(context, saved, true);
  }

  restore(context: ContextState, saved: SavedRegions | undefined): void {
    this.copy(context, saved, false);
  }

  free(context: ContextState, { address, bytes }: SavedRegions): void {
    this.contexts.giveSaveArea(context, address, bytes, this.place);
  }

  /** Memory that has been freed meanwhile is left out. */
  private copy(context: ContextState, saved: SavedRegions | undefined, isSaved: boolean): void {
    if (saved === undefined || this.isDeclaredOnly) return;
    const { lo, hi, address } = saved;
    const space = this.contexts.space(context);
    const area = this.contexts.saveSpace(context);
    let at = address;
    lo.forEach((from, index) => {
      const bytes = hi[index] - from + 1;
      const segment = space.find(from);
      if (segment !== undefined && from + bytes <= segment.virtualAddress + segment.bytes) {
        const [source, target] = isSaved ? [space, area] : [area, space];
        target.view(isSaved ? at : from, bytes).set(source.view(isSaved ? from : at, bytes));
      }
      at += bytes;
    });
  }
}
