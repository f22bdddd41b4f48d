export { mean, quantile } from './quantile.js';
export { wholeNumberHistogram, type Histogram } from './histogram.js';
