export { comparisonText, type NamedRun } from './comparison.js';
export { document } from './document.js';
export { lineChart, type ChartSeries } from './lineChart.js';
export { readRunFile } from './runFile.js';
export { runPage } from './runPage.js';
