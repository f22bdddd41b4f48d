/** How long a model's process may take before it is killed. */
export interface ProcessLimits {
  /** From its start until the model is loaded. */
  readonly startMs: number;
  /** For a batch; one that takes longer is taken for one that never ends. */
  readonly batchMs: number;
  /** To end by itself, once nothing is asked of it any more. */
  readonly closeMs: number;
}

export const DEFAULT_PROCESS_LIMITS: ProcessLimits = { startMs: 60_000, batchMs: 30_000, closeMs: 2000 };
