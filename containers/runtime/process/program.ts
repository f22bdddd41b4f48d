import { spawn, type ChildProcess } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { reasonOf } from '../../../simulator/text/index.js';
import type { InputType } from '../../protocol/index.js';
import { endAlike } from './endAlike.js';
import { LineLog } from './lineLog.js';
import { killGroup } from './memoryGuard.js';
import type { LoadedModel } from './loadedModel.js';
import { DEFAULT_MAX_BATCH_SIZE, isWhole, LARGEST_MAX_BATCH_SIZE } from './modelBounds.js';
import { idIn, jsonIn, ProgramLines, type JsonObject } from './programLines.js';

/** A program that has closed one of its pipes is given so long to end by itself. */
const CLOSED_PIPE_MS = 500;
const STDERR_FD = 2;

/** What a program says of an input in place of an output. */
class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** A line of the program's is no answer, or it has closed its line. */
class LineError extends Error {
  override readonly name = 'LineError';
}

/**
 * Starts a program, and waits for its line `{"ready": true}`. From then on it is a model that is asked input by input: a line of
 * JSON to its standard input, and one from its standard output, in any order. When it ends, so does this process.
 * @param inputType what the registry says; the program itself says nothing of it
 * @throws Error (as a rejection) that says what is wrong with its first line
 */
export async function startProgram(
  command: string,
  inputType: InputType | undefined,
  parentPid: number,
): Promise<LoadedModel> {
  if (inputType === undefined) throw new Error('a program does not say what it takes: give --input-type');
  const program = new Program(command, parentPid);
  const said = await program.ready;
  const { input_length: inputLength, max_batch_size: maxBatchSize = DEFAULT_MAX_BATCH_SIZE } = said;
  const bad =
    badField('input_length', inputLength, 0xffff_ffff) ??
    badField('max_batch_size', maxBatchSize, LARGEST_MAX_BATCH_SIZE);
  if (bad !== undefined) throw new Error(bad);
  return {
    inputType,
    inputLength: inputLength as number | undefined,
    maxBatchSize: maxBatchSize as number,
    predict: undefined,
    predictOne: (input) => program.ask(input),
    close: () => program.close(),
  };
}

function badField(name: string, value: unknown, most: number): string | undefined {
  if (value === undefined || isWhole(value, most)) return undefined;
  return `the program's line {"ready": true} says ${name}: ${JSON.stringify(value)}, expected a whole number from 1 to ${most}`;
}

interface Asked {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

class Program {
  readonly ready: Promise<JsonObject>;
  private readonly child: ChildProcess;
  private readonly stdin: Writable;
  private readonly asked = new Map<number, Asked>();
  /** Lines that are no answers, a few a second. */
  private readonly log = new LineLog(
    () => performance.now(),
    (line) => process.stdout.write(`${line}\n`),
  );
  private nextId = 1;
  private isClosing = false;
  private onReady: ((said: JsonObject) => void) | undefined;

  constructor(command: string, parentPid: number) {
    this.ready = new Promise((resolve) => (this.onReady = resolve));
    this.child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdin, stdout } = this.child as { readonly stdin: Writable; readonly stdout: Readable };
    this.stdin = stdin;
    this.child.on('error', (error) => fail(`/bin/sh cannot be started: ${error.message}`));
    this.child.on('exit', (code, signal) => {
      if (this.isClosing) return;
      const refusal = this.onReady === undefined ? undefined : shellRefusal(code);
      if (refusal !== undefined) writeSync(STDERR_FD, `Program error: ${command}: ${refusal}\n`);
      endAlike(code, signal, parentPid);
    });
    const lines = new ProgramLines((line) => this.onLine(line));
    stdout.setEncoding('utf8').on('data', (text: string) => {
      try {
        lines.push(text);
      } catch (error) {
        fail(reasonOf(error));
      }
    });
    stdout.on('end', () => this.onPipeClosed('output'));
    stdin.on('error', () => this.onPipeClosed('input'));
  }

  ask(input: unknown): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.stdin.write(`${JSON.stringify({ id, input: jsonOf(input) })}\n`);
    });
  }

  /** Its input ends: it is to end, too. */
  close(): Promise<void> {
    this.isClosing = true;
    return new Promise((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) resolve();
      else this.child.once('exit', () => resolve());
      this.stdin.end();
    });
  }

  private onLine(line: string): void {
    if (line.trim() === '') return;
    const said = jsonIn(line);
    if (this.onReady !== undefined) {
      if (said?.ready !== true) this.log.push(`${line}\n`);
      else {
        this.onReady(said);
        this.onReady = undefined;
      }
      return;
    }
    const id = said === undefined ? idIn(line) : said.id;
    const asked = typeof id === 'number' ? this.asked.get(id) : undefined;
    if (asked === undefined) {
      this.log.push(`${line}\n`);
      return;
    }
    this.asked.delete(id as number);
    if (said === undefined)
      asked.reject(new LineError(`the program's answer is no JSON: ${line.slice(0, 200)}`));
    else answer(asked, said);
  }

  private onPipeClosed(what: string): void {
    if (this.isClosing) return;
    setTimeout(() => fail(`the program closed its ${what} and went on`), CLOSED_PIPE_MS);
  }
}

function answer({ resolve, reject }: Asked, said: JsonObject): void {
  if (typeof said.error === 'string') reject(new ProgramError(said.error));
  else if (!('output' in said)) reject(new LineError("the program's answer has neither output nor error"));
  else if (said.scores === undefined) resolve(said.output);
  else if (Array.isArray(said.scores)) resolve({ output: said.output, scores: said.scores });
  else reject(new LineError("scores: the program's answer must have a list of numbers there"));
}

/** Numbers as a list, bytes as base64, a text as it is; a missing value (NaN) is null. */
function jsonOf(input: unknown): unknown {
  if (input instanceof Uint8Array) return Buffer.from(input).toString('base64');
  return ArrayBuffer.isView(input) ? Array.from(input as Int32Array | Float32Array | Float64Array) : input;
}

/** Ends this process and what it has started. What is printed last is told as the reason. */
function fail(reason: string): void {
  writeSync(STDERR_FD, `Program error: ${reason}\n`);
  killGroup();
}

/** What the shell's own exit codes say, where it has not started what it was to. */
function shellRefusal(code: number | null): string | undefined {
  if (code === 127) return 'the shell has found no such program';
  return code === 126 ? 'the shell may not run it; is its file executable?' : undefined;
}
