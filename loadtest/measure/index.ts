export { Durations, type DurationsImage, type DurationSummary } from './durations.js';
export { SizeBins, type SizeBin } from './sizeBins.js';
export {
  addCounts,
  ApplicationTally,
  ModelTally,
  type ApplicationImage,
  type CountedAnswer,
} from './tallies.js';
export {
  Timeline,
  WindowCounts,
  windowWidthNs,
  type SelectionShares,
  type TimelineImage,
} from './timeline.js';
