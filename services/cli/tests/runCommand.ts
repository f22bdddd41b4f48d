import { vi } from 'vitest';
import { failureText } from '../commandError.js';
import { windjammerProgram } from '../program.js';

/** A command as its process would end. */
export interface CommandOutcome {
  readonly status: 0 | 1;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process. */
export async function runCommand(args: readonly string[]): Promise<CommandOutcome> {
  let stdout = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  try {
    await (await windjammerProgram(args)).parseAsync(['node', 'windjammer', ...args]);
    return { status: 0, stdout, stderr: '' };
  } catch (error) {
    return { status: 1, stdout, stderr: failureText(error) };
  } finally {
    write.mockRestore();
  }
}
