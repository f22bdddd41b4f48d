import type { LiveQuery, Settlement, Task } from './liveQuery.js';
import type { ModelVote } from './types.js';

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
    const reason = failure?.reason ?? 'expired';
    return { name, version, cached, missing: reason === 'expired' ? 'deadline' : reason };
  }
  return { name, version, cached, output, ...(scores === undefined ? {} : { scores }) };
}
