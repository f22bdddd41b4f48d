import { RunningCommand, type CommandOptions } from './runningCommand.js';

/** `windjammer node`. */
export class NodeProcess extends RunningCommand {
  /** Only starts it; on a port that the system picks unless `listen` is given. */
  constructor(name: string, args: readonly string[] = [], listen = '127.0.0.1:0', options?: CommandOptions) {
    super(['node', '--name', name, '--listen', listen, ...args], {}, options);
  }

  /** Starts it and waits until it listens. */
  static start(...words: ConstructorParameters<typeof NodeProcess>): Promise<NodeProcess> {
    return new NodeProcess(...words).ready();
  }

  /** Where servers dial it. */
  get url(): string {
    const url = /listens on (\S+)\n/.exec(this.output)?.[1];
    if (url === undefined) throw new Error(`node has not said where it listens: ${this.output}`);
    return url;
  }

  /** `HOST:PORT`, to start another one there. */
  get address(): string {
    return new URL(this.url).host;
  }
}
