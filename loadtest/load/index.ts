export { addLoadtestCommand } from './loadCommand.js';
