export { analyzeKernel, type AnalysisOptions } from './analyzeKernel.js';
