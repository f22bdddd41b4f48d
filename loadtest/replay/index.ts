export { addReplayCommand } from './replayCommand.js';
