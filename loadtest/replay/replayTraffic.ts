import type { InputForm } from '../../containers/protocol/index.js';
import { KeyedDraw } from '../../selection/index.js';
import type { HostFrontend, QueryWay } from '../hostTimes/index.js';
import type {
  Answer,
  AnswerSink,
  PredictionEngine,
  Query,
  QueryRefusal,
} from '../../services/prediction/index.js';
import { commonInputForm, inputFormOf } from '../../services/registry/index.js';
import type { EventSink, VirtualClock } from '../../simulator/time/index.js';
import { QueryInputs, textBytes } from '../inputs/index.js';
import { answerLine } from '../result/index.js';
import { ApplicationTally, type ModelTally, type SelectionShares, type Timeline } from '../measure/index.js';
import { LoadError } from '../trace/index.js';
import type { ReplayedApplication, ReplaySettings } from './replaySettings.js';
import type { Arrival } from '../trace/index.js';

const PORT = 'replay';

export interface ReplayedQuery extends Query {
  /** When it arrived; the frontend may take it on later. */
  readonly arrivedNs: number;
  /** Of its input as JSON; 0 unless host times are charged. */
  readonly bytes: number;
  /** Through the host, whose times are charged. */
  readonly way: QueryWay | undefined;
  readonly label: string | undefined;
}

interface Judgement {
  readonly application: string;
  readonly context: string;
  readonly queryId: string;
  readonly label: string;
}

interface Target {
  readonly application: ReplayedApplication;
  readonly form: InputForm;
  readonly tally: ApplicationTally;
}

/** Asks the engine what the trace says when it says so, judges answers, and counts what became of each query. */
export class ReplayTraffic implements EventSink, AnswerSink {
  /** By application. */
  readonly tallies: ReadonlyMap<string, ApplicationTally>;
  arrivals = 0;
  judgements = 0;
  /** Of the last arrival, or where the trace was cut off; since the start. */
  endNs = 0;
  private readonly targets: ReadonlyMap<string, Target>;
  private readonly draw: KeyedDraw;
  private readonly inputs: QueryInputs;
  private readonly untilNs: number;
  private upcoming: Arrival | undefined;
  private judgementsDue = 0;
  private acceptsDue = 0;
  /** Starts at the clock's present time. @param host whose times are charged; absent: those of the cards alone */
  constructor(
    private readonly settings: ReplaySettings,
    private readonly clock: VirtualClock,
    private readonly engine: PredictionEngine,
    private readonly models: ReadonlyMap<string, ModelTally>,
    private readonly timeline: Timeline,
    readonly startNs: number,
    private readonly host?: HostFrontend<ReplayedQuery>,
  ) {
    this.draw = new KeyedDraw(settings.seed);
    this.inputs = new QueryInputs(settings.seed);
    this.targets = new Map(settings.applications.map((one) => [one.record.name, targetOf(one, settings)]));
    this.tallies = new Map([...this.targets].map(([name, { tally }]) => [name, tally]));
    this.untilNs = (settings.durationSeconds ?? Infinity) * 1e9;
    clock.attach(PORT, this);
    this.scheduleArrival();
    this.scheduleSample();
  }

  /** Nothing more will come, and nothing is open. */
  get done(): boolean {
    return (
      this.upcoming === undefined &&
      this.engine.inFlight() === 0 &&
      this.judgementsDue + this.acceptsDue === 0
    );
  }

  onEvent(kind: string, payload: unknown, nowNs: number): void {
    switch (kind) {
      case 'arrival':
        this.arrive(nowNs);
        break;
      case 'reached':
        if (this.host?.reach(payload as ReplayedQuery) === true) this.clock.schedule(PORT, nowNs, 'turn');
        break;
      case 'turn':
        this.turn(nowNs);
        break;
      case 'read':
        this.accept(payload as readonly ReplayedQuery[], nowNs);
        break;
      case 'judgement':
        this.judge(payload as Judgement);
        break;
      case 'sample':
        this.sample(nowNs);
        break;
    }
  }

  onAnswer(query: Query, answer: Answer): void {
    const { label, arrivedNs, way } = query as ReplayedQuery;
    const nowNs = this.clock.nowNs();
    const seenNs = way === undefined ? nowNs : (this.host?.answer(way, nowNs) ?? nowNs);
    const latencyNs = seenNs - arrivedNs;
    this.timeline.at(nowNs - this.startNs).answer(latencyNs, answer.defaultReason);
    this.tallies.get(query.application)?.answer({ ...answer, latencyNs }, label);
    for (const { name, cached } of answer.models) {
      const model = this.models.get(name);
      if (model === undefined) continue;
      model.answers += 1;
      if (cached) model.cachedAnswers += 1;
    }
    this.settings.onAnswer?.(
      answerLine(Number(query.id), query.application, answer.output, answer.isDefault),
    );
    const { share, delayMs } = this.settings.feedback;
    if (label === undefined || share === 0 || this.draw.of(`feedback ${query.id}`)() >= share) return;
    const { id: queryId, application, context } = query;
    const judgement: Judgement = { application, context, queryId, label };
    this.judgementsDue += 1;
    this.clock.schedule(PORT, nowNs + delayMs * 1e6, 'judgement', judgement);
  }

  onRefusal(query: Query, { code }: QueryRefusal): void {
    this.tallies.get(query.application)?.refuse(code);
  }

  /** Of every application that has a choice. */
  shares(): SelectionShares {
    const shares: Record<string, Record<string, number>> = {};
    for (const { record, models } of this.settings.applications) {
      if (models.length > 1) shares[record.name] = sharesOf(this.engine, record.name);
    }
    return shares;
  }

  private arrive(nowNs: number): void {
    const arrival = this.upcoming;
    if (arrival === undefined) return;
    const query = this.queryOf(arrival, this.arrivals++);
    const window = this.timeline.at(nowNs - this.startNs);
    window.arrivals += 1;
    const tally = this.tallies.get(query.application);
    if (tally !== undefined) tally.arrivals += 1;
    this.send(query);
    this.scheduleArrival();
  }

  private send(query: ReplayedQuery): void {
    if (query.way === undefined) {
      this.engine.predict(query, this);
      return;
    }
    this.acceptsDue += 1;
    this.clock.schedule(PORT, query.way.reachesNs, 'reached', query);
  }

  private turn(nowNs: number): void {
    const { queries, endNs } = this.host?.turn(nowNs) ?? { queries: [], endNs: nowNs };
    this.clock.schedule(PORT, endNs, 'read', queries);
  }

  private accept(queries: readonly ReplayedQuery[], nowNs: number): void {
    this.acceptsDue -= queries.length;
    for (const query of queries) this.engine.predict(query, this);
    if (this.host?.endTurn() === true) this.clock.schedule(PORT, nowNs, 'turn');
  }

  private queryOf(arrival: Arrival, number: number): ReplayedQuery {
    const { application, form } = this.targetOf(arrival);
    const id = `${number}`;
    const { name } = application.record;
    const { context = '', features } = arrival;
    const asked = this.inputs.of(arrival, number, form, application.inputs);
    const bytes = this.host === undefined ? 0 : textBytes(form.type, asked.input);
    const arrivedNs = this.clock.nowNs();
    const way = this.host?.send(id, bytes, arrivedNs);
    return { id, application: name, context, features, arrivedNs, bytes, way, ...asked };
  }

  private targetOf({ application, where }: Arrival): Target {
    const name = application ?? this.settings.applications[0].record.name;
    const target = this.targets.get(name);
    if (target !== undefined) return target;
    const names = [...this.targets.keys()].join(', ');
    throw new LoadError(where, `application '${name}' is not replayed: it must be one of ${names}`);
  }

  private judge({ application, context, queryId, label }: Judgement): void {
    this.judgementsDue -= 1;
    this.judgements += 1;
    const tally = this.tallies.get(application);
    this.engine.update({ application, context, queryId, label }, ({ accepted, joined, refusal }) =>
      tally?.judge(accepted ? joined : (refusal?.code ?? 'refused')),
    );
  }

  private scheduleArrival(): void {
    const arrival = this.settings.trace.next();
    const isIn = arrival !== undefined && arrival.atNs < this.untilNs;
    this.upcoming = isIn ? arrival : undefined;
    if (isIn) {
      this.endNs = arrival.atNs;
      this.clock.schedule(PORT, this.startNs + arrival.atNs, 'arrival');
    } else if (arrival !== undefined) {
      this.endNs = this.untilNs;
    }
  }

  /** Shares at a window's end, as long as something goes on. */
  private sample(nowNs: number): void {
    this.timeline.at(nowNs - this.startNs - 1).shares = this.shares();
    if (!this.done) this.scheduleSample();
  }

  private scheduleSample(): void {
    const { widthNs } = this.timeline;
    const next = Math.floor((this.clock.nowNs() - this.startNs) / widthNs + 1e-9) + 1;
    this.clock.schedule(PORT, this.startNs + next * widthNs, 'sample');
  }
}

function targetOf(application: ReplayedApplication, { models }: ReplaySettings): Target {
  const linked = models.filter(({ record }) => application.models.includes(record.name));
  const forms = linked.map(({ record }) => inputFormOf(record));
  const form = commonInputForm(application.record.inputType, forms);
  return { application, form, tally: new ApplicationTally(application.record.latencyObjectiveUs / 1000) };
}

export function sharesOf(engine: PredictionEngine, application: string): Record<string, number> {
  return Object.fromEntries(engine.selectionShares(application) ?? []);
}
