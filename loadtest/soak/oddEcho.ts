/** The module of odd versions of the echo model. */
import { echoModel } from './echoAnswers.js';

export default echoModel('odd');
