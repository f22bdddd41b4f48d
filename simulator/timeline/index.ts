export { Timeline, type TimelineOptions } from './timeline.js';
