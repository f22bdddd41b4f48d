import { WindjammerClient } from '../client/index.js';
import { RunningCommand, type CommandOptions } from './runningCommand.js';

/** `windjammer serve`, on ports that the system picks. */
export class ServedProcess extends RunningCommand {
  /** Only starts it. @param environment beside that of the test */
  constructor(args: readonly string[], environment?: NodeJS.ProcessEnv, options?: CommandOptions) {
    super(['serve', '--port', '0', '--management-port', '0', ...args], environment, options);
  }

  /** Starts it and waits until it is ready. */
  static start(
    args: readonly string[],
    environment?: NodeJS.ProcessEnv,
    options?: CommandOptions,
  ): Promise<ServedProcess> {
    return new ServedProcess(args, environment, options).ready();
  }

  get query(): string {
    return this.addresses[1];
  }

  get management(): string {
    return this.addresses[2];
  }

  /** @param timeoutMs of each of its calls */
  client(timeoutMs?: number): WindjammerClient {
    return new WindjammerClient({ queryUrl: this.query, managementUrl: this.management, timeoutMs });
  }

  async post(
    url: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown; readonly text: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as unknown) : undefined };
  }

  async admin(verb: string, body: unknown): Promise<unknown> {
    const { status, json, text } = await this.post(`${this.management}/admin/${verb}`, body);
    if (status !== 200) throw new Error(`${verb}: ${status} ${text}`);
    return json;
  }

  private get addresses(): RegExpExecArray {
    const addresses = /serves on (\S+), management on (\S+), /.exec(this.output);
    if (addresses === null) throw new Error(`serve has not said where it serves: ${this.output}`);
    return addresses;
  }
}
