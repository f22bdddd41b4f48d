export { analyzeKernel } from './analyzeKernel.js';
