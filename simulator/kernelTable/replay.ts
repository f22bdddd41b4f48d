import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { GpuNode } from '../cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverOp,
  DriverResult,
} from '../driver/index.js';
import type { DeviceProfile, PreemptionTotals } from '../gpu/index.js';
import type { LaunchClass, PolicyMaker } from '../scheduling/index.js';
import { VirtualClock, type EventSink } from '../time/index.js';
import { Timeline } from '../timeline/index.js';
import type { KernelRow } from './kernelTable.js';
import { KernelTableError } from './kernelTableError.js';
import { ReplayClient, type ClientLaunch } from './replayClient.js';
import { RowWorks } from './rowWork.js';
import { tableModule, type TableModule } from './tableModule.js';

/** One client: a table that it sends again and again. */
export interface ReplayTable {
  /** Its name in errors and in the report. */
  readonly path: string;
  readonly rows: readonly KernelRow[];
  /** Of its stream: higher runs first. Default 0. */
  readonly priority?: number;
  /** Of its launches. Default `standard`. */
  readonly launchClass?: LaunchClass | undefined;
  /** Between the starts of passes, taken in turn, again from the first after the last. Without: the next starts when one is over. */
  readonly gapsNs?: readonly number[];
}

export interface ReplayOptions {
  readonly tables: readonly ReplayTable[];
  /** The card to run on. */
  readonly card: DeviceProfile;
  /** The card that the tables' durations are of. */
  readonly measuredOn: DeviceProfile;
  /** Ends when so many launches are through. */
  readonly launches?: number;
  /** Ends after this simulated time. */
  readonly seconds?: number;
  readonly policy?: string | PolicyMaker;
  /** Of the draws that decide which launches of a share are idempotent. Default 1. */
  readonly seed?: number;
  /** Seconds of host time. */
  readonly stopwatch?: () => number;
  readonly timeline?: (text: string) => void;
}

export interface LatencyReport {
  readonly meanUs: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

export interface ClientReport {
  readonly table: string;
  readonly priority: number;
  readonly launchClass: LaunchClass;
  readonly requests: number;
  readonly launches: number;
  readonly requestsPerSecond: number;
  /** Of a pass, from its first command to its last launch's end; absent when none is through. */
  readonly latency?: LatencyReport;
}

/** What the policy took off the SMs. */
export interface PreemptionReport {
  readonly kills: number;
  readonly saves: number;
  readonly drains: number;
  /** From the decision until the SMs were free; absent where there were none. */
  readonly meanKillUs?: number;
  readonly meanSaveUs?: number;
  readonly meanDrainUs?: number;
  /** Time of blocks on SMs that counts for nothing, since they ran again. */
  readonly wastedBlockUs: number;
}

export interface ReplayReport {
  readonly device: string;
  readonly measuredOn: string;
  readonly policy: string;
  readonly launches: number;
  /** Simulated, from the clients' start to the last end. */
  readonly makespanUs: number;
  /** SM-time with a block, of all. */
  readonly smUtilisation: number;
  /** All zero under policies that preempt nothing. */
  readonly preemptions: PreemptionReport;
  readonly clients: readonly ClientReport[];
  readonly hostSeconds: number;
  readonly launchesPerHostSecond: number;
}

/** Replays tables side by side on one card, each from a context of its own, in timing fidelity and virtual time. */
export function replayTables(options: ReplayOptions): ReplayReport {
  const replay = new Replay(options);
  try {
    return replay.run();
  } finally {
    replay.close();
  }
}

/** Of one client, beyond which its memory would grow without end. */
const MOST_WAITING = 200_000;
/** Eleven days. */
const LONGEST_GAP_NS = 1e15;

class Replay implements EventSink {
  private readonly clock = new VirtualClock();
  private readonly node: GpuNode;
  private readonly modules: readonly TableModule[];
  private readonly clients: readonly ReplayClient[];
  private readonly timeline: Timeline | undefined;
  private left: number;
  private nextGap: number[];
  private readonly random: ReturnType<typeof xoroshiro128plus>;

  constructor(private readonly options: ReplayOptions) {
    const { tables, card, measuredOn, launches = Infinity, seconds = Infinity, policy = 'fifo' } = options;
    if (tables.length === 0) throw new KernelTableError('invalidOption', 'tables: name at least one');
    if (launches === Infinity && seconds === Infinity) {
      throw new KernelTableError('invalidOption', 'launches or seconds: one of them says when to end');
    }
    tables.forEach(({ path, gapsNs }) => checkGaps(path, gapsNs));
    this.left = launches;
    this.random = xoroshiro128plus(options.seed ?? 1);
    this.nextGap = tables.map(() => 0);
    const works = new RowWorks(measuredOn);
    const made = new Map<readonly KernelRow[], TableModule>();
    this.modules = tables.map(({ rows, path }) => {
      let module = made.get(rows);
      if (module === undefined) made.set(rows, (module = tableModule(rows, path, works, card)));
      return module;
    });
    this.node = new GpuNode(this.clock, {
      gpus: [card],
      fidelity: 'timing',
      costs: [...made.values()].map(({ costs }) => costs),
      scheduling: policy,
    });
    this.clock.attach('clients', this);
    const names = new Map<number, string>();
    this.timeline =
      options.timeline === undefined
        ? undefined
        : new Timeline(this.node, options.timeline, { contextName: (context) => names.get(context) });
    this.clients = tables.map((table, index) => this.client(table, this.modules[index], names));
  }

  run(): ReplayReport {
    const { tables, seconds = Infinity, stopwatch = () => 0 } = this.options;
    const fromNs = this.clock.nowNs();
    const before = this.node.device(0).usage();
    const hostStart = stopwatch();
    this.clients.forEach((client, index) => {
      if (tables[index].gapsNs === undefined) client.start();
      else this.clock.schedule('clients', fromNs, 'start', index);
    });
    if (seconds === Infinity) while (this.isUnderWay() && this.clock.step());
    else this.clock.run(fromNs + seconds * 1e9);
    if (this.clients.some((client) => client.inFlight > 0) && this.clock.nextEventNs() === undefined) {
      this.node.refuseHeld();
    }
    const hostSeconds = stopwatch() - hostStart;
    const elapsedNs = this.clock.nowNs() - fromNs;
    const after = this.node.device(0).usage();
    return this.report(elapsedNs, after.smBusyNs - before.smBusyNs, hostSeconds);
  }

  close(): void {
    this.timeline?.end();
    this.node.close();
  }

  /** A client with given gaps starts its next pass. */
  onEvent(_kind: string, payload: unknown, nowNs: number): void {
    const index = payload as number;
    const { path, gapsNs = [] } = this.options.tables[index];
    const client = this.clients[index];
    client.start();
    if (client.waiting > MOST_WAITING) {
      throw new KernelTableError(
        'refused',
        `${path}: ${client.waiting} launches wait after ${nowNs / 1e9} s: passes start faster than the card ends them; ` +
          `give larger distances (--every, --gaps), or an earlier end`,
      );
    }
    if (this.left <= 0) return;
    const gapNs = gapsNs[this.nextGap[index]++ % gapsNs.length];
    this.clock.schedule('clients', nowNs + gapNs, 'start', index);
  }

  private isUnderWay(): boolean {
    return this.left > 0 || this.clients.some((client) => client.inFlight > 0);
  }

  private client(
    { path, priority = 0, launchClass, gapsNs }: ReplayTable,
    { ptx, file, launches }: TableModule,
    names: Map<number, string>,
  ): ReplayClient {
    const context = this.call(0, 'contextCreate', { gpu: 0, launchClass }).handle ?? 0;
    names.set(context, path);
    const module = this.call(context, 'moduleLoad', { ptx, file }).handle ?? 0;
    const stream = this.call(context, 'streamCreate', { priority }).handle ?? 0;
    const made = new Map<object, ClientLaunch['args']>();
    const loaded = (args: (typeof launches)[number]['args']): ClientLaunch['args'] => {
      let found = made.get(args);
      if (found === undefined) made.set(args, (found = { ...args, module }));
      return found;
    };
    const table = launches.map(({ idempotent, args, refusedArgs }) => ({
      idempotent,
      args: loaded(args),
      refusedArgs: loaded(refusedArgs),
    }));
    return new ReplayClient(
      {
        submit: (command, sink) => this.node.submit(command, sink),
        nowNs: () => this.clock.nowNs(),
        take: (wanted) => {
          const taken = Math.min(wanted, this.left);
          this.left -= taken;
          return taken;
        },
        draw: () => uniformFloat64(this.random),
      },
      context,
      stream,
      table,
      gapsNs === undefined,
    );
  }

  private call<O extends DriverOp>(
    context: number,
    op: O,
    args: Extract<DriverCommand, { op: O }>['args'],
  ): DriverResult {
    let completion: DriverCompletion | undefined;
    const sink: CompletionSink = {
      onCompletion: (done) => {
        completion = done;
      },
    };
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit({ ticket: 1, context, stream: 0, op, args } as unknown as DriverCommand, sink);
    while (completion === undefined && this.clock.step());
    if (completion?.failure !== undefined) throw new KernelTableError('refused', completion.failure.message);
    return completion?.result ?? {};
  }

  private report(elapsedNs: number, smBusyNs: number, hostSeconds: number): ReplayReport {
    const { tables, card, measuredOn, policy = 'fifo' } = this.options;
    const launches = this.clients.reduce((sum, client) => sum + client.launches, 0);
    return {
      device: card.name,
      measuredOn: measuredOn.name,
      policy: typeof policy === 'string' ? policy : policy().name,
      launches,
      makespanUs: elapsedNs / 1e3,
      smUtilisation: elapsedNs > 0 ? smBusyNs / (elapsedNs * card.sms) : 0,
      preemptions: preemptionsOf(this.node.reading(0).preemptions),
      clients: this.clients.map((client, index) => ({
        table: tables[index].path,
        priority: tables[index].priority ?? 0,
        launchClass: tables[index].launchClass ?? 'standard',
        requests: client.requests,
        launches: client.launches,
        requestsPerSecond: elapsedNs > 0 ? client.requests / (elapsedNs / 1e9) : 0,
        ...(client.requests === 0 ? {} : { latency: latencyOf(client) }),
      })),
      hostSeconds,
      launchesPerHostSecond: hostSeconds > 0 ? launches / hostSeconds : 0,
    };
  }
}

function preemptionsOf(totals: Readonly<PreemptionTotals>): PreemptionReport {
  const { kills, saves, drains, killNs, saveNs, drainNs, wastedBlockNs } = totals;
  return {
    kills,
    saves,
    drains,
    ...(kills === 0 ? {} : { meanKillUs: killNs / kills / 1e3 }),
    ...(saves === 0 ? {} : { meanSaveUs: saveNs / saves / 1e3 }),
    ...(drains === 0 ? {} : { meanDrainUs: drainNs / drains / 1e3 }),
    wastedBlockUs: wastedBlockNs / 1e3,
  };
}

function checkGaps(path: string, gapsNs: readonly number[] | undefined): void {
  if (gapsNs === undefined) return;
  const wrong = gapsNs.find((gap) => !(gap >= 0 && gap <= LONGEST_GAP_NS));
  if (gapsNs.length > 0 && wrong === undefined) return;
  throw new KernelTableError(
    'invalidOption',
    `${path}: gapsNs: ${wrong ?? 'none given'}; each is 0 to ${LONGEST_GAP_NS} ns, and there is one at least`,
  );
}

function latencyOf({ latencies, longestNs }: ReplayClient): LatencyReport {
  const us = (percentile: number): number =>
    Math.min(latencies.getValueAtPercentile(percentile), longestNs) / 1e3;
  return {
    meanUs: latencies.mean / 1e3,
    p50Us: us(50),
    p90Us: us(90),
    p99Us: us(99),
    maxUs: longestNs / 1e3,
  };
}
