export { LearnedState, type Durable, type LearnedStateOwner } from './learnedState.js';
export { SelectionStates, type SelectionStatesOptions } from './selectionStates.js';
export { RecentQueries, type JudgedQuery, type RememberedQuery } from './recentQueries.js';
