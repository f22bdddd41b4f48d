/** What became of feedback that was queued. */
export const FEEDBACK_OUTCOMES = [
  /** Learned, or nothing was to be learned from it. */
  'learned',
  /** Learned after feedback that the same frontend had accepted later. */
  'out_of_order',
  /** None of the models that it credits is linked any more, or the application is gone. */
  'late',
  /** It had been learned before. */
  'duplicate',
  /** The state is pinned. */
  'pinned',
  /** Its policy or its models fail on it, or it is no feedback at all: kept as failed. */
  'poisonous',
  /** It could not be learned again and again: kept as failed. */
  'failed',
  /** Kept by the frontend until Redis is back; it has another outcome later. */
  'spooled',
] as const;

export type FeedbackFate = (typeof FEEDBACK_OUTCOMES)[number];
