#!/usr/bin/env node
import { failureText } from './commandError.js';
import { windjammerProgram } from './program.js';

try {
  await windjammerProgram().parseAsync();
} catch (thrown) {
  process.stderr.write(`windjammer: ${failureText(thrown)}\n`);
  process.exitCode = 1;
}
