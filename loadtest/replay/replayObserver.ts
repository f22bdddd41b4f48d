import { SilentObserver, type BatchRecord } from '../../services/prediction/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';
import { ModelTally, type Timeline } from '../measure/index.js';
import { LoadError } from '../trace/index.js';
import type { ReplayedModel } from './replaySettings.js';

/** Counts what models do, and knows when all replicas are up. */
export class ReplayObserver extends SilentObserver {
  /** By model name; one version of each is replayed. */
  readonly models: ReadonlyMap<string, ModelTally>;
  /** By model name: replicas that went down on the way, with the reason. */
  readonly lost = new Map<string, string[]>();
  /** Things that should not happen and stop nothing. */
  readonly warnings: string[] = [];
  /** What must stop the replay. */
  failure: Error | undefined;
  private waitingFor: number;
  private timeline: Timeline | undefined;
  private startNs = 0;

  constructor(
    private readonly clock: VirtualClock,
    models: readonly ReplayedModel[],
  ) {
    super();
    this.models = new Map(models.map(({ record }) => [record.name, new ModelTally()]));
    this.waitingFor = models.reduce((sum, { replicas }) => sum + replicas, 0);
  }

  get allUp(): boolean {
    return this.waitingFor === 0;
  }

  /** From now on batches belong to a window. */
  begin(timeline: Timeline, startNs: number): void {
    this.timeline = timeline;
    this.startNs = startNs;
  }

  override onBatch(record: BatchRecord): void {
    this.models.get(record.model)?.batch(record);
    const window = this.timeline?.at(this.clock.nowNs() - this.startNs);
    if (window === undefined) return;
    window.batches += 1;
    window.items += record.size;
  }

  override onLatePrediction(_application: string, model: string): void {
    const tally = this.models.get(model);
    if (tally !== undefined) tally.late += 1;
  }

  override onReplicaUp(): void {
    this.waitingFor -= 1;
  }

  override onReplicaRefused(model: string, version: string, replica: string, reason: string): void {
    const who = model === '' ? 'a model' : `model ${model}, version ${version}, replica ${replica}`;
    this.failure ??= new LoadError(who, `cannot start: ${reason}`);
  }

  override onReplicaDown(model: string, version: string, replica: string, reason: string): void {
    const lost = this.lost.get(model) ?? [];
    this.lost.set(model, [...lost, `${replica}: ${reason}`]);
    this.warnings.push(`model ${model}, version ${version}, replica ${replica} went down: ${reason}`);
  }

  override onProtocolError(model: string, _version: string, replica: string, message: string): void {
    this.warnings.push(`model ${model}, replica ${replica} broke the protocol: ${message}`);
  }

  override onSinkFailure(_query: unknown, error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
  }
}
