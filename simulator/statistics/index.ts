export { mean, quantile } from './quantile.js';
export { histogramOf, histogramText, wholeNumberHistogram, type Histogram } from './histogram.js';
