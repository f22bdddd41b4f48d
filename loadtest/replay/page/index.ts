export { replayPage } from './replayPage.js';
