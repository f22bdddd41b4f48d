import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { WindjammerClient } from '../../../services/client/index.js';
import type { NodeProcess } from '../../../services/tests/nodeProcess.js';
import type { CuttingProxy } from '../../../services/redis/tests/cuttingProxy.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { ECHO, SCALE } from '../expectations.js';
import type { Randomness } from '../randomness.js';
import type { Violations } from '../violations.js';
import {
  addApplication,
  addConstant,
  addEcho,
  deleteApplication,
  deleteModel,
  drain,
  link,
  setReplicas,
  setVersion,
  unlink,
} from './changes.js';
import { hasPort } from './clientPorts.js';
import type { ClusterUnderTest, NodeSeat, Seat } from './clusterUnderTest.js';
import type { Outage, Outages } from './outages.js';
import type { Registry } from './registry.js';

export interface TroubleSettings {
  /** From the beginning of one trouble to that of the next. */
  readonly everyMs: number;
  /** How long a line may be cut. */
  readonly longestCutMs: number;
  /** At once. */
  readonly most: number;
}

const LONGEST_DEATH_MS = 4000;
/** Versions that stay, so that there is one to go back to. */
const KEPT_VERSIONS = 3;
const LOOK_MS = 100;
/** Names of applications that come and go begin with it. */
const EXTRA = 'extra-';

const KINDS = [
  'killFrontend',
  'cutNode',
  'deploy',
  'killNode',
  'killRedis',
  'cutRedisOfFrontend',
  'scaleKernel',
  'cutRedisOfNode',
  'register',
  'hangNode',
  'cutOneLine',
  'switchVersion',
  'drainNode',
  'scaleEcho',
] as const;
export type TroubleKind = (typeof KINDS)[number];

/** What is done to a cluster while it serves. */
export class ClusterTroubles {
  /** By kind. */
  readonly done = new Map<string, number>();
  /** What something is done to, until it is over. */
  private readonly taken = new Set<unknown>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly extras: string[] = [];
  private versions = [1];
  private current = 1;
  private extraNumber = 0;

  constructor(
    private readonly cluster: ClusterUnderTest,
    private readonly registry: Registry,
    private readonly outages: Outages,
    private readonly random: Randomness,
    private readonly violations: Violations,
    private readonly applications: readonly string[],
    private readonly onTrouble: (text: string) => void,
  ) {}

  /** Until told to stop; what has begun then comes to its end. */
  async run({ everyMs, longestCutMs, most }: TroubleSettings, isOver: () => boolean): Promise<void> {
    for (let turn = 0; !isOver();) {
      const untilMs = performance.now() + everyMs;
      while (!isOver() && (performance.now() < untilMs || this.underWay.size >= most)) await after(LOOK_MS);
      if (isOver()) break;
      // Each once before any comes by lot.
      const kind = KINDS[turn] ?? this.random.of(KINDS);
      const made = await this.make(kind, longestCutMs, isOver);
      if (made || turn >= KINDS.length) turn += 1;
    }
    await Promise.all(this.underWay);
  }

  /** @returns whether there was anything to do it to */
  private async make(kind: TroubleKind, longestCutMs: number, isOver: () => boolean): Promise<boolean> {
    const cutMs = (): number => 200 + this.random.share() ** 2 * (longestCutMs - 200);
    const deathMs = this.random.share() * Math.min(LONGEST_DEATH_MS, longestCutMs);
    const lasts = async (ms: number): Promise<void> => {
      const untilMs = performance.now() + ms;
      while (!isOver() && performance.now() < untilMs)
        await after(Math.min(LOOK_MS, Math.max(1, untilMs - performance.now())));
    };
    switch (kind) {
      case 'killFrontend': {
        const seat = this.free(this.cluster.frontends.filter(({ isSpared }) => !isSpared));
        return this.begin(kind, seat, async (one) => {
          await this.cluster.kill(one);
          await lasts(deathMs);
          await this.cluster.revive(one);
        });
      }
      case 'killNode': {
        const node = this.freeNode(({ seat }) => !seat.isSpared);
        const bare = node === undefined ? undefined : await this.bareWithout(node);
        return this.begin(
          kind,
          node,
          async ({ seat }) => {
            await this.cluster.kill(seat);
            await lasts(deathMs);
            await this.cluster.revive(seat);
          },
          { bare },
        );
      }
      case 'killRedis':
        return this.begin(
          kind,
          this.free([this.cluster.redis]),
          async (redis) => {
            await redis.kill();
            await lasts(cutMs() / 2);
            await redis.run();
          },
          { redis: 'all' },
        );
      case 'cutRedisOfFrontend': {
        const seat = this.free(this.cluster.frontends);
        return this.begin(kind, seat, ({ redisLine }) => this.cut(redisLine, () => lasts(cutMs())), {
          redis: seat?.number,
        });
      }
      case 'cutRedisOfNode': {
        const seat = this.free(this.cluster.nodes.map((node) => node.seat));
        return this.begin(kind, seat, ({ redisLine }) => this.cut(redisLine, () => lasts(cutMs())), {
          redis: seat?.number,
        });
      }
      case 'cutNode': {
        const node = this.freeNode(() => true);
        const bare = node === undefined ? undefined : await this.bareWithout(node);
        return this.begin(kind, node, ({ line }) => this.cut(line, () => lasts(cutMs())), { bare });
      }
      case 'cutOneLine': {
        const node = this.freeNode(() => true);
        const bare = node === undefined ? undefined : await this.bareWithout(node);
        const seat = this.random.of(this.cluster.living());
        const pid = seat.life?.process.pid ?? 0;
        return this.begin(
          kind,
          node,
          async ({ line }) => {
            line.bar((port) => hasPort(pid, port));
            await lasts(cutMs());
            line.mend();
          },
          { bare, bareAt: seat.number },
        );
      }
      case 'hangNode': {
        const node = this.freeNode(() => true);
        const bare = node === undefined ? undefined : await this.bareWithout(node);
        return this.begin(kind, node, ({ seat }) => hang(seat, () => lasts(deathMs * 2)), { bare });
      }
      case 'drainNode': {
        const node = this.freeNode(() => true);
        const bare = node === undefined ? undefined : await this.bareWithout(node);
        return this.begin(
          kind,
          node,
          async ({ seat }) => {
            await this.registry.change(drain(seat.name, true));
            await lasts(cutMs());
            await this.registry.change(drain(seat.name, false));
          },
          { bare },
        );
      }
      case 'deploy':
        return this.begin(kind, this.free([ECHO]), () => this.deploy());
      case 'switchVersion':
        return this.begin(kind, this.free([ECHO]), () => this.switchVersion());
      case 'scaleEcho':
        return this.begin(kind, this.free([ECHO]), () =>
          this.registry.change(setReplicas(ECHO, `${this.current}`, this.random.whole(1, 3))),
        );
      case 'scaleKernel':
        return this.begin(kind, this.free([SCALE]), () =>
          this.registry.change(setReplicas(SCALE, '1', this.random.whole(2, 4))),
        );
      case 'register':
        return this.begin(kind, this.free([this.extras]), () => this.register());
    }
  }

  private begin<T>(
    kind: TroubleKind,
    target: T | undefined,
    trouble: (target: T) => Promise<void>,
    of?: Parameters<Outages['begin']>[1],
  ): boolean {
    if (target === undefined) return false;
    this.taken.add(target);
    this.onTrouble(`${kind} ${nameOf(target)}`);
    const outage: Outage = this.outages.begin(`${kind} ${nameOf(target)}`, of);
    const made = trouble(target)
      .catch((error: unknown) =>
        this.violations.add('a trouble could not be made', `${kind}: ${reasonOf(error)}`),
      )
      .finally(() => {
        this.outages.end(outage);
        this.taken.delete(target);
        this.underWay.delete(made);
        this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
      });
    this.underWay.add(made);
    return true;
  }

  private free<T>(targets: readonly T[]): T | undefined {
    const free = targets.filter((target) => !this.taken.has(target));
    return free.length === 0 ? undefined : this.random.of(free);
  }

  /** One node is left alone at any time: what has no node cannot be answered. */
  private freeNode(is: (node: NodeSeat) => boolean): NodeSeat | undefined {
    const { nodes } = this.cluster;
    const isTaken = (node: NodeSeat): boolean => this.taken.has(node);
    if (nodes.filter(isTaken).length >= nodes.length - 1) return undefined;
    const free = nodes.filter((node) => !isTaken(node) && is(node));
    return free.length === 0 ? undefined : this.random.of(free);
  }

  /** Down, as a process that is gone, or without a word, as a cable that is out. */
  private async cut(line: CuttingProxy, lasts: () => Promise<void>): Promise<void> {
    if (this.random.share() < 0.5) {
      line.down();
      await lasts();
      line.mend();
      return;
    }
    line.mute('request');
    line.mute('answer');
    await lasts();
    line.cut();
  }

  /** Applications that may have no replica outside of a node and of those that something is done to. */
  private async bareWithout(node: NodeSeat): Promise<ReadonlySet<string>> {
    const bare = new Set(this.applications);
    const gone = this.cluster.nodes.filter((one) => one === node || this.taken.has(one));
    const seats = this.cluster
      .living()
      .filter(({ number }) => !this.outages.touchesRedis(number, performance.now()));
    try {
      const views = await Promise.all(
        seats.map(async (seat) => await this.cluster.client(seat).management.containers()),
      );
      const isSafe = views.every((containers) =>
        containers.some(
          ({ model_name: name, state, gpu = '' }) =>
            name === SCALE && state === 'up' && gone.every(({ seat }) => !gpu.startsWith(`${seat.name}/`)),
        ),
      );
      if (isSafe && seats.length === this.cluster.frontends.length) bare.delete(SCALE);
    } catch {
      // Nobody knows.
    }
    return bare;
  }

  private async deploy(): Promise<void> {
    const version = Math.max(...this.versions) + 1;
    await this.registry.change(addEcho(version));
    this.versions.push(version);
    this.current = version;
    while (this.versions.length > KEPT_VERSIONS) {
      const [oldest] = this.versions.filter((one) => one !== this.current);
      await this.registry.change(deleteModel(ECHO, `${oldest}`));
      this.versions = this.versions.filter((one) => one !== oldest);
    }
  }

  private async switchVersion(): Promise<void> {
    const others = this.versions.filter((version) => version !== this.current);
    if (others.length === 0) return;
    const version = this.random.of(others);
    await this.registry.change(setVersion(ECHO, `${version}`));
    this.current = version;
  }

  /** An application with a model of its own, or one fewer. */
  private async register(): Promise<void> {
    if (this.extras.length > 2 || (this.extras.length > 0 && this.random.share() < 0.4)) {
      const [name] = this.extras;
      await this.registry.change(unlink(name, [name]));
      await this.registry.change(deleteApplication(name));
      await this.registry.change(deleteModel(name, '1'));
      this.extras.shift();
      return;
    }
    const name = `${EXTRA}${(this.extraNumber += 1)}`;
    await this.registry.change(addApplication(name, 'doubles'));
    await this.registry.change(addConstant(name));
    await this.registry.change(link(name, [name]));
    this.extras.push(name);
  }

  /** What was acknowledged is what there is, once nothing is under way. */
  async check({ management }: WindjammerClient): Promise<void> {
    const models = await management.models();
    const found = {
      versions: models
        .filter(({ model_name: name }) => name === ECHO)
        .map((one) => Number(one.model_version)),
      current: models
        .filter((one) => one.model_name === ECHO && one.is_current_version)
        .map((one) => Number(one.model_version)),
      extras: models
        .filter(({ model_name: name }) => name.startsWith(EXTRA))
        .map(({ model_name: name }) => name),
      applications: (await management.applications())
        .map(({ name }) => name)
        .filter((name) => name.startsWith(EXTRA)),
    };
    const { versions, current, extras } = this;
    const expected = { versions, current: [current], extras, applications: extras };
    for (const list of [found, expected]) for (const part of Object.values(list)) (part as unknown[]).sort();
    if (!isDeepStrictEqual(found, expected))
      this.violations.add(
        'registered otherwise than acknowledged',
        `${JSON.stringify(found)} for ${JSON.stringify(expected)}`,
      );
  }
}

async function hang({ life }: Seat<NodeProcess>, lasts: () => Promise<void>): Promise<void> {
  if (life === undefined) return;
  life.process.signal('SIGSTOP');
  await lasts();
  life.process.signal('SIGCONT');
}

function nameOf(target: unknown): string {
  if (typeof target === 'string') return target;
  const { name, seat } = target as { readonly name?: string; readonly seat?: { readonly name: string } };
  return seat?.name ?? name ?? '';
}
