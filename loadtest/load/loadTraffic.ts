import { KeyedDraw } from '../../selection/index.js';
import { jsonText } from '../../services/json/index.js';
import { poolFor, QueryInputs, type InputPool } from '../inputs/index.js';
import type { Arrival } from '../trace/index.js';
import { AnswersFile } from './answersFile.js';
import { ApplicationMix } from './applicationMix.js';
import { behindEnding } from './endings.js';
import { LoadCounts } from './loadCounts.js';
import type { LoadPlan } from './loadPlan.js';
import type { LoadAnswer, LoadQuery, Outcome, Sender } from './senders/index.js';
import { wallNs } from './wallClock.js';

/** A server of which nothing was heard for so long, while queries could not be brought to it, has gone. */
const GONE_NS = 3e9;
/** Or for so long, while so many could not. */
const SOON_GONE_NS = 1e9;
const SOON_GONE_FAILURES = 1000;
/** Of queries, beyond which nobody waits for more. */
const MOST_IN_FLIGHT = 50_000;
/** Statuses that every further query would get too. */
const HOPELESS: ReadonlySet<number> = new Set([401, 403, 404]);

/** Inputs, by application. */
export type InputPools = ReadonlyMap<string, InputPool>;

/** @throws LoadError of a file of inputs */
export function poolsOf(plan: LoadPlan): InputPools {
  const { applications } = plan;
  return new Map(applications.map(({ name, form }) => [name, poolFor(form, plan, applications.length)]));
}

/** Makes queries of arrivals, counts what becomes of them, judges answers, and says when to go on makes no sense. */
export class LoadTraffic {
  readonly counts: LoadCounts;
  /** Called once, with `counts.endedEarly` set. */
  onHopeless: () => void = () => undefined;
  inFlight = 0;
  private readonly mix: ApplicationMix;
  private readonly inputs: QueryInputs;
  private readonly draw: KeyedDraw;
  private readonly answersFile: AnswersFile | undefined;
  private readonly judgements = new Set<NodeJS.Timeout>();
  private openJudgements = 0;
  private lastAnswerNs: number;
  /** Since then. */
  private failures = 0;

  /** @param startNs when the load begins, by `wallNs`: what takes time is made before */
  constructor(
    private readonly plan: LoadPlan,
    private readonly pools: InputPools,
    private readonly sender: Sender,
    private readonly startNs: number,
  ) {
    const { applications, seed, answersFile } = plan;
    this.counts = new LoadCounts(plan);
    this.mix = new ApplicationMix(applications, seed);
    this.inputs = new QueryInputs(seed);
    this.draw = new KeyedDraw(seed);
    this.answersFile =
      answersFile === undefined ? undefined : new AnswersFile(answersFile, (why) => this.giveUp(why));
    this.lastAnswerNs = startNs;
  }

  /** @throws LoadError naming the arrival */
  queryOf(arrival: Arrival, number: number): LoadQuery {
    const application = this.mix.of(arrival, number);
    const pool = this.pools.get(application.name);
    if (pool === undefined) throw new Error(`application '${application.name}' has no inputs`);
    const { context, features } = arrival;
    return {
      number,
      application,
      context,
      features,
      ...this.inputs.of(arrival, number, application.form, pool),
    };
  }

  /** A query leaves now. @param intendedNs when it was to leave, by `wallNs` */
  onSent(query: LoadQuery, intendedNs: number): void {
    const sinceNs = Math.max(0, intendedNs - this.startNs);
    this.inFlight += 1;
    this.counts.endNs = Math.max(this.counts.endNs, sinceNs);
    this.counts.timeline.at(sinceNs).arrivals += 1;
    this.tally(query).arrivals += 1;
    if (this.inFlight > MOST_IN_FLIGHT) {
      this.giveUp(behindEnding(this.inFlight));
    }
  }

  /** @param intendedNs when the query was to leave: latency counts from then */
  onOutcome(query: LoadQuery, intendedNs: number, outcome: Outcome): void {
    const nowNs = wallNs();
    this.inFlight -= 1;
    this.counts.drainedNs = nowNs - this.startNs;
    if (outcome.kind === 'answer') {
      this.failures = 0;
      this.lastAnswerNs = nowNs;
      this.onAnswer(query, nowNs, Math.max(0, nowNs - intendedNs), outcome.answer);
      return;
    }
    this.tally(query).refuse(outcome.code);
    if (outcome.kind === 'refused') {
      this.lastAnswerNs = nowNs;
      if (HOPELESS.has(outcome.status)) this.giveUp(`${outcome.status} ${outcome.code}: ${outcome.message}`);
    } else if (outcome.code === 'unexpected_answer') {
      this.giveUp(`what answers is no Windjammer server (${outcome.message})`);
    } else if (outcome.code === 'unreachable') {
      this.onUnreachable(nowNs - this.lastAnswerNs, outcome.message);
    }
  }

  /** A query of which nothing will be known, since the load has ended. */
  onCut(query: LoadQuery): void {
    this.inFlight -= 1;
    this.tally(query).arrivals -= 1;
    this.counts.unanswered += 1;
  }

  giveUp(why: string): void {
    if (this.counts.endedEarly !== null) return;
    this.counts.endedEarly = why;
    this.onHopeless();
  }

  /** Nothing is under way any more. */
  get isDrained(): boolean {
    return this.inFlight === 0 && this.judgements.size === 0 && this.openJudgements === 0;
  }

  close(): void {
    for (const timer of this.judgements) clearTimeout(timer);
    this.judgements.clear();
    this.answersFile?.close();
  }

  private onUnreachable(silentNs: number, message: string): void {
    this.failures += 1;
    const isSoon = silentNs > SOON_GONE_NS && this.failures > SOON_GONE_FAILURES;
    if (!isSoon && silentNs <= GONE_NS) return;
    this.giveUp(
      `the server has gone (${message}); nothing was answered for ${(silentNs / 1e9).toFixed(1)} s`,
    );
  }

  private onAnswer(query: LoadQuery, nowNs: number, latencyNs: number, answer: LoadAnswer): void {
    const { counts } = this;
    const { name } = query.application;
    const output = typeof answer.output === 'string' ? answer.output : String(jsonText(answer.output));
    const { isDefault, defaultReason, cached, models } = answer;
    counts.timeline.at(Math.max(0, nowNs - this.startNs)).answer(latencyNs, defaultReason);
    this.tally(query).answer(
      { output, isDefault, cached, latencyNs, ...(defaultReason === undefined ? {} : { defaultReason }) },
      query.label,
    );
    for (const model of models) {
      const key = `${name}/${model.name}`;
      counts.modelAnswers[key] = (counts.modelAnswers[key] ?? 0) + 1;
      if (model.cached) counts.cachedModelAnswers[key] = (counts.cachedModelAnswers[key] ?? 0) + 1;
    }
    this.answersFile?.add(query.number, name, output, isDefault);
    const { share } = this.plan.feedback;
    if (share === 0 || query.label === undefined) return;
    if (this.draw.of(`feedback ${query.number}`)() < share)
      this.judgeLater(query, answer.queryId, query.label);
  }

  private judgeLater(query: LoadQuery, queryId: string, label: string): void {
    const { delayMs, lag } = this.plan.feedback;
    const { application, context, number } = query;
    const factor = lag === 'fixed' ? 1 : -Math.log(1 - this.draw.of(`lag ${number}`)());
    const timer = setTimeout(() => {
      this.judgements.delete(timer);
      this.openJudgements += 1;
      this.counts.judgements += 1;
      void this.sender.feedback({ application, context, queryId, label }).then((how) => {
        this.openJudgements -= 1;
        this.tally(query).judge(how);
      });
    }, delayMs * factor);
    this.judgements.add(timer);
  }

  private tally({ application }: LoadQuery) {
    const tally = this.counts.tallies.get(application.name);
    if (tally === undefined) throw new Error(`application '${application.name}' is not counted`);
    return tally;
  }
}
