import type { DialledPair } from './dialledPair.js';
import { echoContainer } from './echoContainers.js';
import { ECHO } from './expectations.js';
import type { Randomness } from './randomness.js';
import type { ServerUnderTest } from './serverUnderTest.js';
import type { Violations } from './violations.js';

/** Versions that stay, so that there is one to roll back to. */
const KEPT_VERSIONS = 3;
const LONGEST_DEPLOY_MS = 30_000;

/** What is done to the server while it serves. */
export class Troubles {
  /** By kind. */
  readonly done = new Map<string, number>();
  private readonly versions: number[] = [];
  private current = 0;

  constructor(
    private readonly server: ServerUnderTest,
    private readonly dialled: DialledPair,
    private readonly random: Randomness,
    private readonly violations: Violations,
    private readonly onTrouble: (kind: string) => void = () => undefined,
  ) {}

  /** Registers the next version of the echo model and waits until it answers. */
  async deploy(): Promise<void> {
    const version = (this.versions.at(-1) ?? 0) + 1;
    await this.server.admin('add_model', {
      model_name: ECHO,
      model_version: `${version}`,
      input_type: 'doubles',
      ...echoContainer(version),
      num_replicas: 2,
    });
    this.versions.push(version);
    this.current = version;
    await this.untilUp(version);
  }

  /** One after the other until told to stop, each so much after the end of the one before. */
  async run(everyMs: number, isOver: () => boolean): Promise<void> {
    const kinds = [
      'kill',
      'killDialled',
      'hang',
      'deploy',
      'hangDialled',
      'rollBack',
      'scale',
      'kill',
    ] as const;
    for (let turn = 0; ; turn++) {
      const until = performance.now() + everyMs;
      while (performance.now() < until && !isOver()) await new Promise((resolve) => setTimeout(resolve, 20));
      if (isOver()) return;
      // Each once before any comes by lot.
      const kind = turn < kinds.length ? kinds[turn] : this.random.of(kinds);
      try {
        this.onTrouble(kind);
        await this[kind]();
        this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
      } catch (error) {
        this.violations.add('management failed', `${kind}: ${String(error)}`);
      }
    }
  }

  private async kill(): Promise<void> {
    send(await this.container(), 'SIGKILL');
  }

  /** A container that stops for a while, as one that swaps does. */
  private async hang(): Promise<void> {
    const pid = await this.container();
    send(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, this.random.whole(50, 1500)));
    send(pid, 'SIGCONT');
  }

  private killDialled(): void {
    this.dialled.kill(this.random);
  }

  private async hangDialled(): Promise<void> {
    await this.dialled.hang(this.random, this.random.whole(50, 3000));
  }

  private async rollBack(): Promise<void> {
    const others = this.versions.filter((version) => version !== this.current);
    if (others.length === 0) return;
    this.current = this.random.of(others);
    await this.server.admin('set_model_version', { model_name: ECHO, model_version: `${this.current}` });
    const old = this.versions.filter((version) => version !== this.current);
    while (old.length > KEPT_VERSIONS - 1) {
      const version = old.shift();
      await this.server.admin('delete_versioned_model', { model_name: ECHO, model_version: `${version}` });
      this.versions.splice(this.versions.indexOf(Number(version)), 1);
    }
  }

  private async scale(): Promise<void> {
    const replicas = this.random.whole(1, 3);
    const fields = { model_name: ECHO, model_version: `${this.current}`, num_replicas: replicas };
    await this.server.admin('set_num_replicas', fields);
  }

  /** Drawn by lot among the processes; lost ones start again with back-off, so there may be none for a while. */
  private async container(): Promise<number> {
    const end = performance.now() + LONGEST_DEPLOY_MS;
    while (performance.now() < end) {
      const pids = this.server.containerPids();
      if (pids.length > 0) return this.random.of(pids);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no container had a process for ${LONGEST_DEPLOY_MS} ms`);
  }

  private async untilUp(version: number): Promise<void> {
    const end = performance.now() + LONGEST_DEPLOY_MS;
    while (performance.now() < end) {
      const text = await this.server.admin('get_all_containers', { verbose: true });
      const containers = JSON.parse(text) as { model_name: string; model_version: string; state: string }[];
      const isUp = (one: (typeof containers)[number]): boolean =>
        one.model_name === ECHO && one.model_version === `${version}` && one.state === 'up';
      if (containers.some(isUp)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`version ${version} was not up in ${LONGEST_DEPLOY_MS} ms`);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}
