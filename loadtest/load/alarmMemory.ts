/** Whole numbers of `control`. */
export const TURN = 0;
export const CLOSED = 1;

/** What an alarm and its thread share. */
export interface AlarmMemory {
  readonly control: Int32Array;
  /** When to ring, by `wallNs`. Written before `TURN` is raised. */
  readonly dueNs: Float64Array;
}
