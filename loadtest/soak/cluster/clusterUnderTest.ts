import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { WindjammerClient } from '../../../services/client/index.js';
import { CuttingProxy } from '../../../services/redis/tests/cuttingProxy.js';
import { RedisServer } from '../../../services/redis/tests/redisServer.js';
import { pidsOf } from '../../../services/tests/modelProcesses.js';
import { NodeProcess } from '../../../services/tests/nodeProcess.js';
import type { RunningCommand } from '../../../services/tests/runningCommand.js';
import { ServedProcess } from '../../../services/tests/servedProcess.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { PROBED, watchLog } from '../probed.js';
import type { Violations } from '../violations.js';
import type { Outages } from './outages.js';

export const FRONTENDS = 3;
export const NODES = 3;

/** One process that has had a place in the cluster. */
export class Life<P extends RunningCommand> {
  readonly sinceMs = performance.now();
  /** What becomes of its connections from now on is nobody's fault. */
  isKilled = false;

  constructor(readonly process: P) {}

  get isThere(): boolean {
    return !this.isKilled && !this.process.hasExited;
  }
}

/** A frontend or a node: the process that is it at present, and its lines, which may be cut. */
export class Seat<P extends RunningCommand> {
  life: Life<P> | undefined;

  constructor(
    readonly number: number,
    readonly name: string,
    /** Lives as long as the run does, so that it can be said whether it grows. */
    readonly isSpared: boolean,
    readonly redisLine: CuttingProxy,
  ) {}

  get isThere(): boolean {
    return this.life?.isThere === true;
  }
}

export type FrontendSeat = Seat<ServedProcess>;
export interface NodeSeat {
  readonly seat: Seat<NodeProcess>;
  /** Frontends dial it through this. */
  readonly line: CuttingProxy;
}

/** Small, so that it is full soon and entries come and go. */
const CACHE_MIB = 4;
/** Of feedback and changes: a machine that does much else takes its time for modules of models. */
const CALL_MS = 30_000;
const RETRY_MS = 500;
const START_MS = 120_000;
const END_MS = 40_000;

/** Three frontends, three nodes and a Redis, each a process, with a line between any two that can be cut. */
export class ClusterUnderTest {
  readonly frontends: FrontendSeat[] = [];
  readonly nodes: NodeSeat[] = [];
  /** Where logs are kept; undefined while nobody needs them. */
  logs: string | undefined;
  /** Starts that failed since Redis, or a name, was not to be had. */
  failedStarts = 0;
  private readonly clients = new WeakMap<ServedProcess, WindjammerClient>();
  private readonly started: { readonly name: string; readonly process: RunningCommand }[] = [];
  private isEnding = false;

  private constructor(
    private readonly seed: number,
    private readonly folder: string,
    readonly redis: RedisServer,
    private readonly outages: Outages,
    private readonly violations: Violations,
  ) {}

  static async start(seed: number, outages: Outages, violations: Violations): Promise<ClusterUnderTest> {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-cluster-soak-'));
    const cluster = new ClusterUnderTest(seed, folder, await RedisServer.start(), outages, violations);
    try {
      await cluster.seat();
      return cluster;
    } catch (error) {
      await cluster.discard();
      throw error;
    }
  }

  /** Those that may be asked. */
  living(): FrontendSeat[] {
    return this.frontends.filter(({ isThere }) => isThere);
  }

  /** @throws Error if it is not there */
  client({ life, name }: FrontendSeat): WindjammerClient {
    if (life === undefined) throw new Error(`there is no frontend ${name}`);
    let client = this.clients.get(life.process);
    if (client === undefined) this.clients.set(life.process, (client = life.process.client(CALL_MS)));
    return client;
  }

  /** Ends a process as a power cut would. */
  async kill(seat: Seat<RunningCommand>): Promise<void> {
    const { life } = seat;
    if (life === undefined) return;
    life.isKilled = true;
    await life.process.end('SIGKILL');
  }

  /** Starts what was killed, again and again until it is there: what keeps it from that passes. */
  async revive(seat: FrontendSeat | Seat<NodeProcess>): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (!this.isEnding) {
      const beganMs = performance.now();
      try {
        const node = this.nodes.find((one) => one.seat === seat);
        if (node === undefined) await this.startFrontend(seat as FrontendSeat);
        else await this.startNode(node);
        return;
      } catch (error) {
        this.failedStarts += 1;
        const reason = reasonOf(error);
        const isExcused =
          reason.includes('and it is alive') || this.outages.touchesRedis(seat.number, beganMs - START_MS);
        if (!isExcused) this.violations.add('did not start', `${seat.name}: ${reason}`);
        if (/\n\s+at /.test(reason)) this.violations.add('ended as by a defect', `${seat.name}: ${reason}`);
        if (performance.now() > untilMs) throw error;
      }
      await after(RETRY_MS);
    }
  }

  /** Everything ends by itself when it is told to, and leaves no process behind. */
  async end(): Promise<void> {
    this.isEnding = true;
    const ending = async (seats: readonly Seat<RunningCommand>[]) => {
      await Promise.all(
        seats.map(async ({ name, life }) => {
          if (life?.isThere !== true) return;
          life.isKilled = true;
          const late = setTimeout(() => {
            this.violations.add('does not end', `${name}: not within ${END_MS} ms of SIGTERM`);
            life.process.signal('SIGKILL');
          }, END_MS);
          const by = await life.process.end('SIGTERM');
          clearTimeout(late);
          if (by !== 0) this.violations.add('ended badly', `${name}: ${by}`);
        }),
      );
    };
    await ending(this.frontends);
    await ending(this.nodes.map(({ seat }) => seat));
    await this.nobodyLeft();
    await this.discard();
  }

  /** Whatever is there ends at once. */
  async discard(): Promise<void> {
    this.isEnding = true;
    for (const seat of [...this.frontends, ...this.nodes.map((node) => node.seat)]) await this.kill(seat);
    for (const { redisLine } of [...this.frontends, ...this.nodes.map((node) => node.seat)])
      await redisLine.stop();
    for (const { line } of this.nodes) await line.stop();
    await this.redis.stop();
    if (this.violations.count > 0 && this.logs === undefined) this.keepLogs();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private keepLogs(): void {
    this.logs = mkdtempSync(join(tmpdir(), 'windjammer-cluster-soak-logs-'));
    for (const { name, process } of this.started)
      appendFileSync(join(this.logs, `${name}.log`), `# process ${process.pid}\n${process.errors}`);
  }

  private async seat(): Promise<void> {
    writeFileSync(this.keyFile, 'a cluster key of more than thirty-two letters');
    const seatOf = async (number: number, name: string, isSpared: boolean) =>
      new Seat<never>(number, name, isSpared, await CuttingProxy.start(this.redis.port));
    for (let at = 0; at < FRONTENDS; at++)
      this.frontends.push(await seatOf(at, `f${at + 1}`, at === FRONTENDS - 1));
    for (let at = 0; at < NODES; at++) {
      const seat = await seatOf(FRONTENDS + at, `n${at + 1}`, at === NODES - 1);
      this.nodes.push({ seat, line: await CuttingProxy.start(0) });
    }
    await Promise.all([
      ...this.frontends.map((seat) => this.startFrontend(seat)),
      ...this.nodes.map((node) => this.startNode(node)),
    ]);
  }

  private async startFrontend(seat: FrontendSeat): Promise<void> {
    const process = new ServedProcess(
      [
        ...['--store', seat.redisLine.url, '--only-nodes', '--cluster-key-file', this.keyFile],
        ...['--data-dir', this.place(seat), '--no-defaults'],
        ...['--seed', `${this.seed}`, '--cache-mib', `${CACHE_MIB}`],
      ],
      {},
      PROBED,
    );
    await this.settle(seat, process);
  }

  private async startNode({ seat, line }: NodeSeat): Promise<void> {
    const process = new NodeProcess(
      seat.name,
      [
        ...['--join', seat.redisLine.url, '--advertise', line.address],
        ...['--cluster-key-file', this.keyFile, '--data-dir', this.place(seat)],
      ],
      '127.0.0.1:0',
      PROBED,
    );
    const listening = (): void => {
      const port = /listens on \S+:(\d+)\n/.exec(process.output)?.[1];
      if (port !== undefined) line.port = Number(port);
    };
    process.child.stdout.on('data', listening);
    await this.settle(seat, process);
    process.child.stdout.off('data', listening);
  }

  private async settle<P extends RunningCommand>(seat: Seat<P>, process: P): Promise<void> {
    this.started.push({ name: seat.name, process });
    watchLog(process, (line) => {
      if (seat.life?.process === process) this.violations.add('complained', `${seat.name}: ${line}`);
    });
    const life = new Life(await process.ready());
    seat.life = life;
    void process.ended().then((by) => {
      if (!life.isKilled)
        this.violations.add('died', `${seat.name} with ${by}: ${process.errors.slice(-300)}`);
    });
  }

  private place({ name }: Seat<RunningCommand>): string {
    const place = join(this.folder, name);
    mkdirSync(place, { recursive: true });
    return place;
  }

  private get keyFile(): string {
    return join(this.folder, 'cluster.key');
  }

  /** Processes of models go with their node, also with one that was killed. */
  private async nobodyLeft(): Promise<void> {
    const untilMs = performance.now() + END_MS;
    let left = pidsOf(this.folder);
    while (left.length > 0 && performance.now() < untilMs) {
      await after(100);
      left = pidsOf(this.folder);
    }
    if (left.length > 0) this.violations.add('a process is left over', left.join(', '));
  }
}
