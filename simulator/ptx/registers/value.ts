/** A value of a region: from its write, or the region's start, to its last use. */
export interface Value {
  readonly width: number;
  /** Operations that still read it; one more when it lives on behind the region. */
  uses: number;
  /** Its operation; -1 for one that is there at the start. */
  writer: number;
  /** Of a value that is another and a constant: which. An address takes it in; anything else needs it in a register. */
  readonly root?: Value;
  readonly offset: number;
}
