export { comparisonText, type NamedRun } from './comparison.js';
export { readRunFile } from './runFile.js';
export { runPage } from './runPage.js';
