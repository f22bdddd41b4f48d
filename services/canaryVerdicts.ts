import type { Trial } from '../selection/index.js';
import type { Complaint } from './errors/index.js';
import type { EventLog } from './events/index.js';
import type { CanaryRecord, Registry } from './registry/index.js';

const TRIED_AGAIN_MS = 1000;

/** Carries out what trials of versions end with: the registry has it, and one of the servers says so. */
export class CanaryVerdicts {
  private readonly waiting = new Set<NodeJS.Timeout>();
  private isClosed = false;

  constructor(
    private readonly registry: Registry,
    private readonly events: EventLog,
    private readonly complain: Complaint,
  ) {}

  onEnded(record: CanaryRecord, trial: Trial): void {
    const { phase, reason } = trial;
    if (phase === 'ramping' || this.isClosed) return;
    this.registry.endCanary(record.model, record.number, { kind: phase, reason }).then(
      (isFirst) => {
        // Another server has said it.
        if (isFirst) this.tell(record, phase, reason);
      },
      (cause: unknown) => {
        // Queries are answered as it says all the same.
        const { model, candidate: version } = record;
        this.complain('what a canary ended with is not kept', { model, version, phase, reason, cause });
        const timer = setTimeout(() => {
          this.waiting.delete(timer);
          this.onEnded(record, trial);
        }, TRIED_AGAIN_MS);
        timer.unref();
        this.waiting.add(timer);
      },
    );
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.waiting) clearTimeout(timer);
  }

  private tell(
    { model, candidate: version, incumbent }: CanaryRecord,
    phase: 'promoted' | 'withdrawn',
    reason: string,
  ): void {
    this.events.noteAutomatic('canary', {
      verb: `canary_${phase}`,
      about: { model, version },
      before: { canary: 'ramping' },
      after: { canary: phase, serving_version: phase === 'promoted' ? version : incumbent, reason },
    });
  }
}
