#!/usr/bin/env node
/** The command: what serving offers, and the load tests beside it. Here, since both can be imported from here. */
import { failureText, watchOutput, windjammerProgram } from '../../services/cli/index.js';
import { addReplayCommand } from '../replay/index.js';

watchOutput();
try {
  const program = windjammerProgram();
  addReplayCommand(program);
  await program.parseAsync();
} catch (thrown) {
  process.stderr.write(`windjammer: ${failureText(thrown)}\n`);
  process.exitCode = 1;
}
