export type { MetricDescription, MetricTable, MetricType, MetricUnit } from './metric.js';
export * from './catalogue/index.js';
export {
  average,
  duration,
  fewest,
  increase,
  least,
  matching,
  mean,
  most,
  not,
  quantile,
  rate,
  reachable,
  recorded,
  sum,
  until,
  value,
  Vector,
  type Range,
  type Recorded,
} from './promql.js';
