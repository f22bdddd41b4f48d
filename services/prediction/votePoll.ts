import type { PredictionFailure } from '../cache/index.js';
import type { LiveQuery, Settlement, Task } from './liveQuery.js';
import type { MissingVote, ModelVote } from './types.js';

/** Every linked model's own answer, in place of the policy's combination of a few. */
export class VotePoll implements Settlement {
  constructor(private readonly done: (votes: readonly ModelVote[]) => void) {}

  onSettled({ tasks }: LiveQuery): void {
    this.done(tasks.map(voteOf));
  }
}

function voteOf({ model, arrived, cached, output, scores, failure }: Task): ModelVote {
  const { name, version } = model.record;
  if (!arrived) {
    return { name, version, cached, missing: missingFor(failure?.reason) };
  }
  return { name, version, cached, output, ...(scores === undefined ? {} : { scores }) };
}

/** What a vote says in place of an output. @param reason undefined: nothing had come by the deadline */
export function missingFor(reason: PredictionFailure['reason'] | undefined): MissingVote {
  if (reason === undefined || reason === 'expired') return 'deadline';
  return reason === 'invalid_input' ? 'model_error' : reason;
}
