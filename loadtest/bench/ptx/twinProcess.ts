import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LaunchSpec } from '../../../simulator/launchSpec/index.js';
import type { Timing } from './statistics.js';

/** A compiled twin with a launch's arguments, which runs when told to and sleeps in between. */
export class TwinProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: AsyncIterator<string>;

  /** @param directory for files of buffers @param bytes contents of an argument's buffer */
  constructor(
    binary: string,
    spec: LaunchSpec,
    private readonly directory: string,
    bytes: (argument: number) => Uint8Array,
  ) {
    const texts = spec.args.map((argument, index) => {
      if ('i32' in argument) return `i${argument.i32}`;
      if ('f32' in argument) return `f${argument.f32}`;
      const path = join(directory, `in${index}`);
      writeFileSync(path, bytes(index));
      return `b${path}`;
    });
    this.child = spawn(binary, texts, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stderr.pipe(process.stderr);
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** Resolves once the arguments are in its memory. */
  async ready(): Promise<void> {
    await this.answer();
  }

  async run(): Promise<Timing> {
    this.child.stdin.write('run\n');
    const [wall = NaN, cpu = NaN] = (await this.answer()).split(' ').map(Number);
    return { wallMs: wall / 1e6, cpuMs: cpu / 1e6 };
  }

  async output(argument: number): Promise<Uint8Array> {
    const path = join(this.directory, `out${argument}`);
    this.child.stdin.write(`write ${argument} ${path}\n`);
    await this.answer();
    return readFileSync(path);
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.stdin.end();
    await once(this.child, 'exit');
  }

  private async answer(): Promise<string> {
    const next: IteratorResult<string, unknown> = await this.lines.next();
    if (next.done === true) throw new Error('the C twin has ended; its message is above');
    return next.value;
  }
}
