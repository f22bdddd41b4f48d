export { mean, quantile } from './quantile.js';
