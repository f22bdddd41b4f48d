import { RunningCommand, type CommandOptions } from './runningCommand.js';

/** `windjammer node`. */
export class NodeProcess extends RunningCommand {
  private constructor(name: string, args: readonly string[], listen: string, options?: CommandOptions) {
    super(['node', '--name', name, '--listen', listen, ...args], {}, options);
  }

  /** Starts it and waits until it listens; on a port that the system picks unless `listen` is given. */
  static start(
    name: string,
    args: readonly string[] = [],
    listen = '127.0.0.1:0',
    options?: CommandOptions,
  ): Promise<NodeProcess> {
    return new NodeProcess(name, args, listen, options).ready();
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
