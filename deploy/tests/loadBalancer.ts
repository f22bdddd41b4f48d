import { setTimeout as sleep } from 'node:timers/promises';
import { WindjammerClient } from '../../services/client/index.js';

/** How often a load balancer asks whether it may send queries. */
const ASK_MS = 250;

/**
 * Queries in turn to all frontends that say at /readyz that they are ready, as a load balancer sends them: one that has asked a moment ago
 * does not know better.
 */
export class LoadBalancer {
  private readonly clients: ReadonlyMap<string, WindjammerClient>;
  private readonly ready = new Set<string>();
  private readonly stopping = new AbortController();
  private readonly asking: Promise<unknown>;
  private turn = 0;

  constructor(addresses: readonly string[]) {
    this.clients = new Map(
      addresses.map((address) => [address, new WindjammerClient({ queryUrl: `http://${address}` })]),
    );
    this.asking = Promise.all(addresses.map((address) => this.watch(address)));
  }

  get readyCount(): number {
    return this.ready.size;
  }

  /** One of those that are ready. */
  client(): WindjammerClient {
    const ready = [...this.ready];
    const client = this.clients.get(ready[this.turn++ % ready.length]);
    if (client === undefined) throw new Error('no frontend is ready');
    return client;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.asking;
  }

  private async watch(address: string): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const answer = await fetch(`http://${address}/readyz`, {
        signal: AbortSignal.timeout(2000),
      }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) this.ready.add(address);
      else this.ready.delete(address);
      await sleep(ASK_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }
}

/** Load on an application by way of a load balancer, and what became of it. */
export class Load {
  answered = 0;
  /** Each query that no model answered, or that was answered wrongly: why. */
  readonly failures: string[] = [];
  private readonly stopping = new AbortController();
  private readonly lanes: Promise<unknown>;

  /** @param lanes queries under way at once. @param check what is wrong with the output for a number */
  constructor(
    private readonly balancer: LoadBalancer,
    private readonly application: string,
    lanes: number,
    private readonly check: (input: number, output: unknown) => boolean,
  ) {
    this.lanes = Promise.all(Array.from({ length: lanes }, (_, lane) => this.ask(lane)));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.lanes;
  }

  private async ask(lane: number): Promise<void> {
    for (let number = lane; !this.stopping.signal.aborted; number += 1000) {
      try {
        const { isDefault, defaultReason, output } = await this.balancer
          .client()
          .predict(this.application, [number]);
        if (isDefault) this.failures.push(`a default output: ${defaultReason}`);
        else if (!this.check(number, output)) this.failures.push(`${number} gave ${JSON.stringify(output)}`);
        else this.answered += 1;
      } catch (error) {
        this.failures.push(String(error));
      }
      // Two cores answer this, and start the processes that are restarted meanwhile.
      await sleep(5);
    }
  }
}
