import { CuttingProxy } from '../../../../services/redis/tests/cuttingProxy.js';
import { RedisServer } from '../../../../services/redis/tests/redisServer.js';
import { redisAddress } from '../../../../services/redis/index.js';
import { openRedisStore, type Store } from '../../../../services/store/index.js';
import { finalState, writeConflicting } from '../conflictingWrites.js';
import { violations } from '../history.js';

export interface TrialOptions {
  readonly seed: number;
  readonly writes: number;
  /** Lines of both frontends are cut again and again, of some with the answers lost before. */
  readonly withCuts: boolean;
}

export interface TrialResult {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly cuts: number;
  readonly seconds: number;
  readonly violations: readonly string[];
}

const KEYS = 20;
const CLIENTS = 24;
const WRITES_A_CUT = 700;

/** Two frontends write the same keys of a real Redis at once. */
export async function trial({ seed, writes, withCuts }: TrialOptions): Promise<TrialResult> {
  const server = await RedisServer.start();
  const proxies = [await CuttingProxy.start(server.port), await CuttingProxy.start(server.port)];
  const open = (url: string) =>
    openRedisStore({ address: redisAddress(url), prefix: 'trial', complain: () => undefined });
  const stores: Store[] = [];
  try {
    for (const { url } of proxies) stores.push(await open(url));
    let cuts = 0;
    const disturb = (write: number): void => {
      const at = write % WRITES_A_CUT;
      const proxy = proxies[Math.floor(write / WRITES_A_CUT) % proxies.length];
      const kind = Math.floor(write / WRITES_A_CUT) % 3;
      if (at === WRITES_A_CUT - 20 && kind > 0) proxy.mute(kind === 1 ? 'answer' : 'request');
      if (at !== 0) return;
      cuts += 1;
      for (const one of proxies) one.cut();
    };
    const begun = performance.now();
    // A client whose line is mute waits: what nobody else begins, a timer cuts.
    const timer = withCuts ? setInterval(() => proxies.forEach((proxy) => proxy.cut()), 1000) : undefined;
    const history = await writeConflicting({
      ...{ stores, writes, keys: KEYS, clients: CLIENTS, seed },
      ...(withCuts ? { disturb } : {}),
    });
    clearInterval(timer);
    const seconds = (performance.now() - begun) / 1000;
    const outcomes: Record<string, number> = {};
    for (const { outcome } of history) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    // What is there, as somebody finds it who comes now.
    const late = await open(server.url);
    stores.push(late);
    return { outcomes, cuts, seconds, violations: violations(history, finalState(late)) };
  } finally {
    await Promise.all(stores.map((store) => new Promise<void>((resolve) => store.close(resolve))));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await server.stop();
  }
}
