/** One replica of a model version, as management shows it. */
export interface ReplicaStatus {
  readonly model: string;
  readonly version: string;
  readonly replica: number;
  readonly state: 'starting' | 'up' | 'down';
  /** Starts after the first. */
  readonly restarts: number;
  /** Why it was lost, or could not start, the last time. */
  readonly lastFailure?: string;
}
