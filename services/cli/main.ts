#!/usr/bin/env node
import { failureText } from './commandError.js';
import { interruptedCode } from './interruption.js';
import { watchOutput } from './outputErrors.js';
import { windjammerProgram } from './program.js';

watchOutput();
try {
  const program = await windjammerProgram(process.argv.slice(2));
  await program.parseAsync();
} catch (thrown) {
  process.stderr.write(`windjammer: ${failureText(thrown)}\n`);
  process.exitCode = 1;
}
// Whatever it waits for still, such as an answer of a server, is nobody's any more.
const code = interruptedCode();
if (code !== undefined) process.exit(code);
