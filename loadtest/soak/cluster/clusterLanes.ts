import type { ServedProcess } from '../../../services/tests/servedProcess.js';
import { ECHO, Expectations, type SeenAnswer } from '../expectations.js';
import { batchLane, restLane, tensorLane, type Exchange, type Tokens } from '../goodLanes.js';
import { HttpPeer } from '../httpPeer.js';
import type { Lane } from '../lanes.js';
import type { Randomness } from '../randomness.js';
import type { ViolationSink, Violations } from '../violations.js';
import { webSocketLane } from '../webSocketLane.js';
import { OBJECTIVE_US } from './changes.js';
import type { FrontendSeat, Life } from './clusterUnderTest.js';
import type { Outages } from './outages.js';

/** A frontend that has just started knows its nodes within that, and has tried every replica. */
const STARTED_WITHIN_MS = 15_000;
/** From the question to the answer, and the time until it is looked at. */
const ANSWER_MS = OBJECTIVE_US / 1000 + 1000;

/** What came of the questions of all frontends. */
export interface Tally {
  answers: number;
  readonly defaults: Map<string, number>;
  readonly refusals: Map<number, number>;
}

/** Holds answers to their questions, and defaults to what was done to the cluster. */
class ClusterExpectations extends Expectations {
  constructor(
    private readonly tally: Tally,
    private readonly seat: FrontendSeat,
    private readonly life: Life<ServedProcess>,
    private readonly outages: Outages,
    private readonly sink: ViolationSink,
  ) {
    super(sink);
  }

  override prediction(client: string, application: string, input: number, answer: SeenAnswer): void {
    super.prediction(client, application, input, answer);
    this.tally.answers += 1;
    if (!answer.default) return;
    const reason = answer.default_reason ?? '';
    this.tally.defaults.set(reason, (this.tally.defaults.get(reason) ?? 0) + 1);
    // Not one model here fails, and those that are lost are no reason to say so.
    if (reason === 'model_error')
      this.sink.add('a model is blamed', `${client}: ${answer.default_explanation}`);
    this.withoutModel(client, application, reason);
  }

  override output(client: string, input: number, output: unknown): void {
    super.output(client, input, output);
    this.tally.answers += 1;
  }

  override refusal(client: string, status: number, allowed: readonly number[], text: string): void {
    super.refusal(client, status, allowed, text);
    this.tally.refusals.set(status, (this.tally.refusals.get(status) ?? 0) + 1);
    // Where others have a default output.
    if (allowed.includes(status)) this.withoutModel(client, ECHO, text);
  }

  private withoutModel(client: string, application: string, reason: string): void {
    const fromMs = performance.now() - ANSWER_MS;
    if (fromMs < this.life.sinceMs + STARTED_WITHIN_MS) return;
    if (this.outages.excusesDefault(application, this.seat.number, fromMs)) return;
    this.sink.add(
      'no model answered, and nothing excuses that',
      `${client} of ${this.seat.name}, ${application}: ${reason}`,
    );
  }
}

export interface LaneSources {
  readonly tokens: Tokens;
  readonly random: Randomness;
  readonly outages: Outages;
  readonly violations: Violations;
  readonly tally: Tally;
}

/** Clients of one life of a frontend. */
interface Clients {
  readonly life: Life<ServedProcess>;
  readonly lanes: readonly Lane[];
  close(): Promise<void>;
}

/** Lanes that ask a frontend as often as it is there, whichever process that is. @param life of the first one */
export function frontendLanes(
  seat: FrontendSeat,
  life: Life<ServedProcess>,
  sources: LaneSources,
): { readonly lanes: readonly Lane[]; close(): Promise<void> } {
  let clients = clientsOf(seat, life, sources);
  const present = (): Clients | undefined => {
    const now = seat.life;
    if (now?.isThere !== true) return undefined;
    if (clients.life !== now) {
      void clients.close();
      clients = clientsOf(seat, now, sources);
    }
    return clients;
  };
  return {
    lanes: clients.lanes.map(({ name, queries, share, most }, at) => ({
      ...{ name: `${name} of ${seat.name}`, queries, share, most },
      async run() {
        const asked = present();
        try {
          await asked?.lanes[at].run();
        } catch (error) {
          if (asked?.life.isKilled !== true) throw error;
        }
      },
    })),
    close: () => clients.close(),
  };
}

function clientsOf(seat: FrontendSeat, life: Life<ServedProcess>, sources: LaneSources): Clients {
  const { tokens, random, outages, violations, tally } = sources;
  const sink: ViolationSink = {
    add: (kind, example) => {
      if (!life.isKilled) violations.add(kind, `${seat.name}: ${example}`);
    },
  };
  const { query } = life.process;
  const http = new HttpPeer(query);
  const expect = new ClusterExpectations(tally, seat, life, outages, sink);
  const exchange: Exchange = { http, tokens, random, expect };
  const webSockets = (['binary', 'json'] as const).map((format) =>
    webSocketLane(exchange, query, format, sink),
  );
  return {
    life,
    lanes: [restLane(exchange), batchLane(exchange), tensorLane(exchange, OBJECTIVE_US), ...webSockets],
    async close() {
      for (const webSocket of webSockets) await webSocket.close();
      http.close();
    },
  };
}
