import type { Complaint } from '../errors/index.js';
import { POLICY_FILE_METRICS } from '../metrics/index.js';
import type { PolicyFault, PolicyFaultKind } from '../policyFiles/index.js';
import { familiesOf, labelText, withLabels, type MetricFamily } from './metricFamily.js';

/** What is read of policy files when somebody scrapes. */
export interface PolicyFileStatus {
  readonly application: string;
  readonly isUp: boolean;
  readonly restarts: number;
}

/** Of one kind and application so often a line of the log: a policy may fail on every query. */
const INTERVAL_MS = 10_000;

interface Told {
  sinceMs: number;
  untold: number;
}

/** Counts what policy files get wrong, and says so now and then. */
export class PolicyFileMetrics {
  private readonly fallbacks = new Map<string, number>();
  private readonly faults = new Map<string, Map<PolicyFaultKind, number>>();
  private readonly told = new Map<string, Told>();

  constructor(
    private readonly complain: Complaint,
    private readonly nowMs: () => number,
    private readonly statuses: () => readonly PolicyFileStatus[],
  ) {}

  onFallback(application: string): void {
    this.fallbacks.set(application, (this.fallbacks.get(application) ?? 0) + 1);
  }

  /** @returns whether it was said: the first of its kind for a while */
  onFault(application: string, { kind, message: reason }: PolicyFault): boolean {
    let kinds = this.faults.get(application);
    if (kinds === undefined) this.faults.set(application, (kinds = new Map<PolicyFaultKind, number>()));
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const key = `${application}:${kind}`;
    const nowMs = this.nowMs();
    const told = this.told.get(key);
    if (told !== undefined && nowMs - told.sinceMs < INTERVAL_MS) {
      told.untold += 1;
      return false;
    }
    const untold = told === undefined || told.untold === 0 ? {} : { untold: told.untold };
    this.told.set(key, { sinceMs: nowMs, untold: 0 });
    this.complain('a policy from a file failed: queries go to the first model', {
      application,
      kind,
      reason,
      ...untold,
    });
    return true;
  }

  /** An application that is gone. */
  forget(application: string): void {
    this.fallbacks.delete(application);
    this.faults.delete(application);
    for (const key of this.told.keys()) if (key.startsWith(`${application}:`)) this.told.delete(key);
  }

  families(): readonly MetricFamily[] {
    return familiesOf(POLICY_FILE_METRICS, {
      windjammer_policy_file_up: (to) => {
        for (const { application, isUp } of this.statuses())
          to.value(labelText({ application }), isUp ? 1 : 0);
      },
      windjammer_policy_file_restarts_total: (to) => {
        for (const { application, restarts } of this.statuses())
          to.value(labelText({ application }), restarts);
      },
      windjammer_policy_file_faults_total: (to) => {
        for (const [application, kinds] of this.faults)
          for (const [kind, count] of kinds)
            to.value(withLabels(labelText({ application }), { kind }), count);
      },
      windjammer_policy_fallbacks_total: (to) => {
        for (const [application, count] of this.fallbacks) to.value(labelText({ application }), count);
      },
    });
  }
}
