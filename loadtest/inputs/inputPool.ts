/** What the queries of one application ask. */
export interface InputPool {
  /** Where they come from, for the report. */
  readonly source: string;
  /** Samples to choose from; 0: each query's input is made for it. */
  readonly size: number;
  /**
   * The input of a query, as bytes of the application's input type.
   * @param sample below `size`; 0 when there are none.
   * @param query the query's number, which an input that is made depends on.
   */
  input(sample: number, query: number): Uint8Array;
  /** The true output, when it is known. */
  label(sample: number): string | undefined;
}
