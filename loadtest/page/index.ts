export { runPage } from './runPage.js';
