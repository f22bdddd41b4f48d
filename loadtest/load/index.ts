export { closedLoopOver } from './closedLoopOver.js';
