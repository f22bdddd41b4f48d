export { closedLoopOver } from './closedLoopOver.js';
export { addLoadtestCommand } from './loadCommand.js';
