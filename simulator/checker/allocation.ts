/** A piece of device memory with the name that its user knows it by. */
export interface Allocation {
  readonly address: number;
  readonly bytes: number;
  /** As in "buffer argument 1 (`out`)". */
  readonly name: string;
}
