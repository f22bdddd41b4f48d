export {
  LearnedState,
  type Learned,
  type LearnedDone,
  type LearnedStateOwner,
  type Observation,
} from './learnedState.js';
export { ContextMemory, DEFAULT_CONTEXT_BYTES } from './contextMemory.js';
export { DEFAULT_CONTEXT_LIMITS, type ContextLimits } from './keptContexts.js';
export { SelectionStates, type ContextCounts, type SelectionStatesOptions } from './selectionStates.js';
export { contextFolders } from './contextFolder.js';
export { RecentQueries, type JudgedQuery, type RememberedQuery, type TriedTask } from './recentQueries.js';
export { SeenFeedback } from './seenFeedback.js';
export { type PastVersion } from './stateHistory.js';
export {
  exportState,
  NoSuchVersionError,
  pinState,
  resetState,
  rollBackState,
  type StateExport,
} from './stateEdits.js';
export { selectionFault } from './storedShape.js';
