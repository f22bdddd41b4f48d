import type {
  Answer,
  AnswerSink,
  FeedbackOutcome,
  FeedbackRequest,
  ModelCall,
  ModelCallSink,
  ModelRequest,
  ModelVote,
  PollRequest,
  PredictionService,
  Query,
  QueryRefusal,
} from '../../prediction/index.js';

/** Answers at once with what a test sets, or holds queries until it releases them. */
export class FakePredictionService implements PredictionService {
  readonly queries: Query[] = [];
  readonly feedback: FeedbackRequest[] = [];
  readonly cancelled: string[] = [];
  /** What `predict` answers; a refusal when it has a code. */
  reply: (query: Query) => Partial<Answer> | QueryRefusal = () => ({});
  votes: readonly ModelVote[] = [];
  readonly polls: PollRequest[] = [];
  /** What `evaluate` was asked, and what it answers. */
  readonly evaluations: ModelRequest[] = [];
  vote: (request: ModelRequest) => ModelVote = ({ model, version }) => ({
    name: model,
    version,
    cached: false,
    output: '7',
  });
  modelsReady = true;
  outcome: FeedbackOutcome = { accepted: true, joined: 'query', durable: true };
  holding = false;
  /** Called after a query was withdrawn. */
  onCancel: () => void = () => undefined;
  /** Called after a query was taken. */
  onQuery: () => void = () => undefined;
  private readonly held: (readonly [Query, AnswerSink])[] = [];
  private readonly heldCalls: (readonly [ModelRequest, ModelCallSink])[] = [];
  private drained: (() => void) | undefined;

  predict(query: Query, sink: AnswerSink): void {
    this.queries.push(query);
    if (this.holding) this.held.push([query, sink]);
    else this.answer(query, sink);
    this.onQuery();
  }

  cancel(queryId: string): boolean {
    this.cancelled.push(queryId);
    this.onCancel();
    return true;
  }

  poll(request: PollRequest, done: (votes: readonly ModelVote[]) => void): ModelCall | undefined {
    this.polls.push(request);
    if (this.holding) return { cancel: () => this.cancel('poll') };
    done(this.votes);
    return undefined;
  }

  evaluate(request: ModelRequest, sink: ModelCallSink): ModelCall | undefined {
    this.evaluations.push(request);
    if (this.holding) {
      this.heldCalls.push([request, sink]);
      return { cancel: () => this.cancel(`model ${request.model}`) };
    }
    sink.onVote(request, this.vote(request));
    return { cancel: () => false };
  }

  ready(): boolean {
    return this.modelsReady;
  }

  update(feedback: FeedbackRequest, done: (outcome: FeedbackOutcome) => void): void {
    this.feedback.push(feedback);
    done(this.outcome);
  }

  inFlight(): number {
    return this.held.length;
  }

  drain(done: () => void): void {
    this.drained = done;
    this.finishDraining();
  }

  /** Answers what is held. */
  release(): void {
    for (const [query, sink] of this.held.splice(0)) this.answer(query, sink);
    for (const [request, sink] of this.heldCalls.splice(0)) sink.onVote(request, this.vote(request));
    this.finishDraining();
  }

  /** The same, the last query first. */
  releaseReversed(): void {
    this.held.reverse();
    this.heldCalls.reverse();
    this.release();
  }

  private finishDraining(): void {
    if (this.held.length === 0) this.drained?.();
  }

  private answer(query: Query, sink: AnswerSink): void {
    const reply = this.reply(query);
    if ('code' in reply) {
      sink.onRefusal(query, reply);
      return;
    }
    sink.onAnswer(query, {
      queryId: query.id,
      output: '7',
      isDefault: false,
      models: [{ name: 'm', version: '1', cached: false }],
      confidence: 1,
      cached: false,
      latencyNs: 1000,
      ...reply,
    });
  }
}
