import type { Feedback } from '../../selection/index.js';
import type { JudgedQuery } from '../feedback/index.js';
import { taskRefusal } from './answers.js';
import type { LiveQuery, Settlement } from './liveQuery.js';
import type { FeedbackOutcome, FeedbackRequest, QueryRefusal } from './types.js';

export type FeedbackDone = (outcome: FeedbackOutcome) => void;

/** What is wrong with feedback itself, or undefined. */
export function feedbackRefusal({ label, loss }: FeedbackRequest): QueryRefusal | undefined {
  if (typeof label !== 'string') {
    return invalid('label', 'label must be text, which is compared with what the models answered');
  }
  if (loss !== undefined && !(typeof loss === 'number' && loss >= 0 && loss <= 1)) {
    return invalid('loss', `loss must be a number from 0 (right) to 1 (wrong), not ${String(loss)}`);
  }
  return undefined;
}

export function refused(refusal: QueryRefusal): FeedbackOutcome {
  return { accepted: false, joined: 'none', durable: false, refusal };
}

/** Lets the policy learn from the predictions that a query has, and reports once that is on disk. */
export function learn(
  judged: JudgedQuery,
  request: FeedbackRequest,
  joined: FeedbackOutcome['joined'],
  done: FeedbackDone,
): void {
  const feedback: Feedback =
    request.loss === undefined ? { label: request.label } : { label: request.label, loss: request.loss };
  judged.state.observe(judged.selection, judged.predictions, feedback, (durable) =>
    done({ accepted: true, joined, durable }),
  );
}

/**
 * Feedback by input: the arms of a fresh draw are looked up in the cache or evaluated, and credited with the propensity
 * of that draw. Which arm once served the input is not known, and crediting whatever the cache holds would favour the
 * arms that are asked seldom; a fresh draw keeps the estimate unbiased.
 */
export class FeedbackJoin implements Settlement {
  constructor(
    private readonly request: FeedbackRequest,
    private readonly done: FeedbackDone,
  ) {}

  onSettled(live: LiveQuery): void {
    const { tasks } = live;
    const refusal = taskRefusal(live);
    if (refusal !== undefined) {
      this.done(refused(refusal));
      return;
    }
    // A queue that was full or a replica that was away says nothing about the model; its own failure does. An ensemble
    // learns from whatever has arrived.
    const judgeable = tasks.some((task) => task.arrived || task.failure?.reason === 'model_error');
    if (!judgeable) {
      this.done({ accepted: false, joined: 'none', durable: false });
      return;
    }
    const joined = tasks.every((task) => task.cached) ? 'cache' : 'evaluated';
    learn(live.judged(), this.request, joined, this.done);
  }
}

function invalid(field: string, message: string): QueryRefusal {
  return { code: 'invalid_input', field, message };
}
