import { spawn } from 'node:child_process';
import { commandFile } from '../cli/index.js';

export interface EndedCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line as a user does, to its end. */
export function windjammer(args: readonly string[], input = ''): Promise<EndedCommand> {
  const child = spawn(process.execPath, [commandFile(), ...args]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}
