import { spawn, type ChildProcess } from 'node:child_process';
import { compiled } from './probed.js';
import type { Randomness } from './randomness.js';
import type { Violations } from './violations.js';

const COUNT = 2;

/** Two containers that dial the server, each in a process that is started again when it was killed. */
export class DialledPair {
  private readonly children: ChildProcess[];
  private isEnding = false;

  constructor(
    private readonly port: number,
    private readonly violations: Violations,
  ) {
    this.children = Array.from({ length: COUNT }, (_, at) => this.start(at));
  }

  kill(random: Randomness): void {
    random.of(this.children).kill('SIGKILL');
  }

  /** One of them stops for a while, as one that swaps does. */
  async hang(random: Randomness, forMs: number): Promise<void> {
    const child = random.of(this.children);
    child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, forMs));
    child.kill('SIGCONT');
  }

  end(): void {
    this.isEnding = true;
    for (const child of this.children) child.kill('SIGKILL');
  }

  private start(at: number): ChildProcess {
    const child = spawn(process.execPath, [compiled('soak/dialledEcho.js')], {
      env: { ...process.env, CLIPPER_PORT: String(this.port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('exit', (code, signal) => {
      if (this.isEnding) return;
      // What it does not understand ends it, as it ends Clipper's.
      if (signal !== 'SIGKILL')
        this.violations.add('a container that had dialled in ended', `with ${signal ?? code}`);
      this.children[at] = this.start(at);
    });
    return child;
  }
}
