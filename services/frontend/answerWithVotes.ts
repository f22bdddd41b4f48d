import type {
  Answer,
  AnswerSink,
  ModelCall,
  ModelVote,
  PredictionService,
  Query,
  QueryRefusal,
} from '../prediction/index.js';

/**
 * An answer and, beside it, what every linked model says. The query goes first and as always, so that the policy's
 * choice, its credit and its metrics are those of any query; the poll joins its evaluation in the cache.
 */
export class AnswerWithVotes implements AnswerSink {
  private answer: Answer | undefined;
  private votes: readonly ModelVote[] | undefined;
  private call: ModelCall | undefined;
  private refused = false;

  constructor(
    private readonly service: PredictionService,
    private readonly refusals: Pick<AnswerSink, 'onRefusal'>,
    private readonly done: (answer: Answer, votes: readonly ModelVote[]) => void,
  ) {}

  start(query: Query): void {
    this.service.predict(query, this);
    if (this.refused) return;
    const { application, input, budgetNs, traceparent, source, trace } = query;
    this.call = this.service.poll({ application, input, budgetNs, traceparent, source, trace }, (votes) => {
      this.votes = votes;
      this.finish();
    });
  }

  /** Nobody waits for the votes any more; the query is the caller's to cancel. */
  cancel(): void {
    this.call?.cancel();
  }

  onAnswer(_query: Query, answer: Answer): void {
    this.answer = answer;
    this.finish();
  }

  onRefusal(query: Query, refusal: QueryRefusal): void {
    this.refused = true;
    this.cancel();
    this.refusals.onRefusal(query, refusal);
  }

  private finish(): void {
    if (this.answer !== undefined && this.votes !== undefined) this.done(this.answer, this.votes);
  }
}
