/** Order that memory keeps among operations. */
export type MemoryOrder = 'none' | 'read' | 'write' | 'fence';

/** What one PTX instruction asks of the register file, once uniform and constant work is gone. */
export interface MachineOp {
  /** Registers, as the function numbers them; those that other operations take in are replaced by what they are made of. */
  readonly defs: readonly number[];
  readonly uses: readonly number[];
  /** Until a result may be used, in the assembler's eyes. */
  readonly latency: number;
  /** Registers that it needs for itself while it runs. */
  readonly temps: number;
  readonly order: MemoryOrder;
  /** State space that `order` is about; generic addresses are of the space 'global'. */
  readonly space: string;
  /** Block of the function that it stands in. */
  readonly block: number;
  /** A guard may leave the results as they were. */
  readonly guarded: boolean;
  /** Uniform 64-bit values that it needs in registers: an address, or what an address is added to. */
  readonly bases: readonly number[];
  /** Of an operation on memory. */
  readonly place?: Place | undefined;
  /** Adds this constant to its one source, a 64-bit value: an address that others may take in as a distance. */
  readonly step?: number | undefined;
  /** A copy: no operation of its own where its source may share its register. */
  readonly copy: boolean;
}

/** Where an access begins: a register, as it was before constants were added to it, or a name; and how far from there. */
export interface Place {
  readonly base: number | string | undefined;
  readonly offset: number;
  readonly bytes: number;
}
