export { Durations, type DurationSummary } from './durations.js';
export { SizeBins, type SizeBin } from './sizeBins.js';
export { ApplicationTally, ModelTally } from './tallies.js';
export { Timeline, WindowCounts, windowWidthNs, type SelectionShares } from './timeline.js';
