export { MetricsChange } from './metricsChange.js';
export type { MetricSamples } from './metricsText.js';
export { ServerView } from './serverView.js';
