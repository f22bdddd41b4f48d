export { renderBars, type Bar, type BarFigure, type BarGroup } from './bars.js';
export { renderFigure, type Figure, type Panel, type Reference, type Series } from './figure.js';
export { compactJson } from './compactJson.js';
export { AnswerWindows, type Window } from './windows.js';
