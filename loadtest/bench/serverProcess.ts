import { spawn, type ChildProcess } from 'node:child_process';

/** A server under load: a process of its own, so that its CPU time is its own too. */
export interface ServerProcess {
  readonly name: string;
  /** Where predictions are POSTed. */
  readonly url: string;
  /** Where it takes WebSockets, if it does. */
  readonly webSocketUrl: string;
  /** CPU seconds that the process has spent so far, all its threads. */
  cpuSeconds(): Promise<number>;
  stop(): Promise<void>;
}

/** A product server, whose applications and models can be managed. */
export interface ProductProcess extends ServerProcess {
  readonly pid: number;
  readonly managementUrl: string;
  /** Where an application's predictions are POSTed. */
  urlOf(application: string): string;
  /** @throws Error with what the server said. */
  admin(verb: string, body: object): Promise<void>;
}

/** A server with nothing in it, that prints its port and answers GET with its CPU time. */
export async function startBareServer(entry: string, name = 'bare node:http'): Promise<ServerProcess> {
  const child = spawn(process.execPath, [entry], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await firstMatch(child, /^(\d+)\n/);
  const origin = `http://127.0.0.1:${port}`;
  return {
    name,
    url: `${origin}/noop/predict`,
    webSocketUrl: `${webSocketOrigin(origin)}/`,
    cpuSeconds: async () => ((await (await fetch(origin)).json()) as { cpuSeconds: number }).cpuSeconds,
    stop: () => stop(child),
  };
}

/** A node that a server dials. */
export interface NodeUnderTest {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

/** `windjammer node`, on a port that the system picks. */
export async function startNode(cliEntry: string, name: string): Promise<NodeUnderTest> {
  const args = [cliEntry, 'node', '--name', name, '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await firstMatch(child, /listens on (\S+)\n/);
  return { pid: child.pid ?? 0, url, stop: () => stop(child) };
}

/**
 * `windjammer serve` on ports that the system picks.
 * @param more options
 * @param environment variables beside those of this process
 * @param keeping where its state is; nothing is kept unless given
 */
export async function startWindjammer(
  cliEntry: string,
  application: string,
  more: readonly string[] = [],
  keeping: readonly string[] = ['--ephemeral'],
  environment: NodeJS.ProcessEnv = {},
): Promise<ProductProcess> {
  const args = [cliEntry, 'serve', '--port', '0', '--management-port', '0', ...keeping, ...more];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const [origin, management] = await firstMatch(child, /serves on (\S+), management on (\S+), /);
  await untilReady(origin);
  const urlOf = (name: string) => `${origin}/${name}/predict`;
  return {
    name: 'windjammer',
    pid: child.pid ?? 0,
    url: urlOf(application),
    managementUrl: management,
    urlOf,
    webSocketUrl: `${webSocketOrigin(origin)}/ws`,
    admin: async (verb, body) => {
      const response = await fetch(`${management}/admin/${verb}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${verb}: ${response.status} ${text}`);
    },
    cpuSeconds: async () => {
      const text = await (await fetch(`${origin}/metrics`)).text();
      const match = /^process_cpu_seconds_total ([\d.e+-]+)/m.exec(text);
      if (match === null) throw new Error('the server exports no process_cpu_seconds_total');
      return Number(match[1]);
    },
    stop: () => stop(child),
  };
}

function webSocketOrigin(origin: string): string {
  return origin.replace('http:', 'ws:');
}

async function untilReady(origin: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const response = await fetch(`${origin}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${origin}/readyz did not turn ready in 30 s`);
}

function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) resolve(match.slice(1));
    });
    child.once('exit', (code) =>
      reject(new Error(`server exited with ${code} before it printed its address:\n${text}`)),
    );
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
