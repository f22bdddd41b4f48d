import type { Clock } from '../../simulator/time/index.js';
import type { PredictionCache } from '../cache/index.js';
import { askMore } from './asking.js';
import { Deadlines } from './deadlines.js';
import { type CachedEvaluation, type LiveQuery, Patience, type TaskOwner } from './liveQuery.js';
import type { ServedModel } from './servedModel.js';

/** A model is given so many times what it usually takes. */
const SPARE = 1.25;
/** Of the time that is left those who are asked may have this share, if they do not usually need more. */
const SHARE = 0.5;

/** Asks further models for queries whose policies want to know more (`escalate`): cascades. */
export class Escalation {
  private readonly patience: Deadlines<Patience>;

  constructor(
    clock: Clock,
    port: string,
    private readonly cache: PredictionCache<CachedEvaluation>,
    private readonly owner: TaskOwner,
    /** Told of a query that waits for nobody any more. */
    private readonly settle: (live: LiveQuery, nowNs: number) => void,
  ) {
    this.patience = new Deadlines(clock, port, (patience, nowNs) => this.onImpatient(patience, nowNs));
  }

  /** Asks whom the policy wants next where nobody is waited for. @returns whether somebody is now */
  goesOn(live: LiveQuery, nowNs: number): boolean {
    if (!mayGoOn(live, nowNs)) return live.pending > 0;
    live.isAsking = true;
    while (live.pending === 0) {
      const next = nextOf(live);
      if (next === undefined) break;
      this.ask(live, next, nowNs);
    }
    live.isAsking = false;
    if (live.pending === 0) awaitPassed(live);
    if (live.pending > 0) this.bePatient(live, nowNs);
    return live.pending > 0;
  }

  /** The query is over. */
  end(live: LiveQuery): void {
    if (live.patience === undefined) return;
    this.patience.remove(live.patience);
    live.patience = undefined;
  }

  /** Leaves the clock. */
  close(): void {
    this.patience.close();
  }

  private ask(live: LiveQuery, model: ServedModel, nowNs: number): void {
    const { query } = live;
    if (query !== undefined) askMore(this.cache, this.owner, live, model, query.input, query, nowNs);
  }

  /**
   * Sets when those who were asked have had their time: at half of what is left, sooner where the next model needs more than the
   * other half; never before they have had what they usually need, as a model that is slow is not one that hangs.
   */
  private bePatient(live: LiveQuery, nowNs: number): void {
    this.end(live);
    const next = nextOf(live);
    if (next === undefined) return;
    const { deadlineNs } = live;
    let ownNs = 0;
    for (const { model, entry, isPassed } of live.tasks) {
      if (entry === undefined || isPassed) continue;
      ownNs = Math.max(ownNs, model.replicas.expectedNs(nowNs) ?? 0);
    }
    const shareNs = SHARE * (deadlineNs - nowNs);
    const nextNs = Math.max(deadlineNs - nowNs - shareNs, SPARE * (next.replicas.expectedNs(nowNs) ?? 0));
    const untilNs = Math.max(nowNs + SPARE * ownNs, deadlineNs - nextNs);
    if (untilNs >= deadlineNs) return;
    live.patience = new Patience(live, untilNs);
    this.patience.push(live.patience);
  }

  /** Those who were asked count as missing, unless they answer in time after all. */
  private onImpatient(patience: Patience, nowNs: number): void {
    const { live } = patience;
    this.end(live);
    const next = mayGoOn(live, nowNs) ? nextOf(live) : undefined;
    if (next === undefined) return;
    for (const task of live.tasks) if (task.entry !== undefined) task.isPassed = true;
    live.pending = 0;
    live.isAsking = true;
    this.ask(live, next, nowNs);
    live.isAsking = false;
    // It may have answered, or failed, at once.
    if (!this.goesOn(live, nowNs)) this.settle(live, nowNs);
  }
}

function mayGoOn({ application, query, pinned, deadlineNs }: LiveQuery, nowNs: number): boolean {
  return application.policy.escalate !== undefined && query !== undefined && !pinned && nowNs < deadlineNs;
}

/** Whom the policy wants next, if those who have not answered do not. */
function nextOf(live: LiveQuery): ServedModel | undefined {
  const { application, tasks } = live;
  const { policy, models } = application;
  const arrived = tasks.filter((task) => task.arrived);
  const next = policy.escalate?.(live.state.state, live.selection.arms, arrived, live);
  if (next === undefined || tasks.some(({ arm }) => arm === next)) return undefined;
  return models.get(next);
}

/** Where nobody has answered and nobody else is to be asked, those who were passed over are waited for again. */
function awaitPassed(live: LiveQuery): void {
  if (live.tasks.some((task) => task.arrived)) return;
  for (const task of live.tasks) {
    if (!task.isPassed || task.entry === undefined) continue;
    task.isPassed = false;
    live.pending += 1;
  }
}
