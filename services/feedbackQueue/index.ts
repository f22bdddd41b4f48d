export {
  openFeedbackQueue,
  type FeedbackQueueMaker,
  type FeedbackQueueSettings,
} from './openFeedbackQueue.js';
export { FeedbackConnections } from './feedbackConnections.js';
export { FeedbackQueue, type FeedbackQueueOptions } from './feedbackQueue.js';
export { FEEDBACK_OUTCOMES, type FeedbackFate } from './feedbackOutcomes.js';
export {
  type QueueAdministration,
  type QueueEntry,
  type QueueEntryDetails,
  type QueueJobState,
} from './queueAdministration.js';
export { type QueueState } from './queueWatch.js';
