/** Sums that only grow, of one GPU. Plain data. */
export interface FaultTotals {
  /** Launches struck; each run of a launch counts. */
  injected: number;
  /** Of those: run again as they were. */
  reexecuted: number;
  /** Of those: run again once their saved memory was restored. */
  restored: number;
  /** Of those: the fault ended the context. */
  unrecovered: number;
  /** Launches whose memory was saved before they began, the bytes, and the simulated time that it took. */
  savedLaunches: number;
  savedBytes: number;
  saveNs: number;
  /** From faults until launches ran again, restoring included. */
  recoveryNs: number;
  /** Launches that began so that a fault would end their context, under a scheme that recovers. */
  unprotected: number;
}

export function emptyFaultTotals(): FaultTotals {
  return {
    injected: 0,
    reexecuted: 0,
    restored: 0,
    unrecovered: 0,
    savedLaunches: 0,
    savedBytes: 0,
    saveNs: 0,
    recoveryNs: 0,
    unprotected: 0,
  };
}
