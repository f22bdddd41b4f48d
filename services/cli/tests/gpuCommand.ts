import { vi } from 'vitest';
import { failureText } from '../commandError.js';
import { windjammerProgram } from '../program.js';

/** What `windjammer gpu …` prints on standard output; of one that fails, `FAILED`, what it printed, and its message. */
export async function runGpuCommand(...args: readonly string[]): Promise<string> {
  let output = '';
  const keep = (chunk: unknown): boolean => {
    output += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  const program = await windjammerProgram(['gpu']);
  for (const gpu of program.commands) {
    for (const command of [gpu, ...gpu.commands]) command.exitOverride().configureOutput({ writeErr: keep });
  }
  try {
    await program.parseAsync(['gpu', ...args], { from: 'user' });
  } catch (thrown) {
    return `FAILED ${output}${failureText(thrown)}`;
  } finally {
    vi.restoreAllMocks();
  }
  return output;
}
