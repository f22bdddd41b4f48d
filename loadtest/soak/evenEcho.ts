/** The module of even versions of the echo model. */
import { echoModel } from './echoAnswers.js';

export default echoModel('even');
