import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileLedger } from '../jobs/index.js';
import { APPLICATION, chunked, jobLedgerConformance } from '../jobs/tests/jobLedger.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { keyPrefix, redisAddress } from '../redis/index.js';
import { JobConnections, SharedLedger } from './index.js';

const PREFIX = 'windjammer';
const SOON = { timeout: 30_000, interval: 20 };

let redis: RedisServer;
let direct: Redis;
let folder = '';
const open: SharedLedger[] = [];
const connectionsOf = new WeakMap<SharedLedger, JobConnections>();
let frontends = 0;

beforeAll(async () => {
  redis = await RedisServer.start();
  direct = new Redis(redis.port);
  direct.on('error', () => undefined);
});
afterAll(async () => {
  direct.disconnect();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function fresh(): Promise<void> {
  await Promise.all(open.splice(0).map((ledger) => ledger.stop()));
  await direct.flushall();
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(tmpdir(), 'windjammer-shared-jobs-'));
}

/** @param name of a frontend; undefined: it keeps nothing */
async function frontend(
  name: string | undefined,
  mostBytes = 2 ** 20,
  opened?: JobConnections,
): Promise<SharedLedger> {
  const address = redisAddress(redis.url);
  const connections = opened ?? (await JobConnections.open(address));
  const ledger = new SharedLedger({
    connections,
    address,
    prefix: keyPrefix(PREFIX),
    frontend: `f${frontends}`,
    mostBytes,
    spool: await FileLedger.open(
      join(folder, name ?? `temporary-${frontends}`),
      mostBytes,
      name === undefined,
    ),
    isSpoolKept: name !== undefined,
    complain: () => undefined,
  });
  frontends += 1;
  open.push(ledger);
  connectionsOf.set(ledger, connections);
  return ledger;
}

/** As a process ends that is killed: nobody tells Redis. */
function kill(ledger: SharedLedger): void {
  open.splice(open.indexOf(ledger), 1);
  connectionsOf.get(ledger)?.close();
}

const result = (text: string) => ({ text, answered: 1, failed: 0 });

jobLedgerConformance('SharedLedger', () => frontend('a'), fresh);

describe('SharedLedger', () => {
  beforeEach(fresh);

  it('is the same at every frontend', async () => {
    const [a, b] = [await frontend('a'), await frontend('b')];
    const { id } = await a.create(APPLICATION, chunked(['1'], ['2']));
    expect(await b.progress(id)).toMatchObject({ state: 'running', description: { id, lines: 2 } });
    expect((await b.list()).map(({ description }) => description.id)).toEqual([id]);
    const kept = await Promise.all([a.keep(id, 0, result('a\n')), b.keep(id, 0, result('b\n'))]);
    expect(kept.filter((one) => one)).toHaveLength(1);
    expect(await a.results(id, 0)).toBe(await b.results(id, 0));
    await b.cancel(id);
    expect(await a.progress(id)).toMatchObject({ state: 'cancelled', answered: 1 });
    await a.remove(id);
    expect(await b.progress(id)).toBeUndefined();
    // Nothing of it is left in Redis, nor counted.
    expect(await direct.get(`${keyPrefix(PREFIX)}:jobs:total`)).toBe('0');
    expect(
      (await direct.keys('*:jobs:*')).filter((key) => key.includes(id) && !key.includes(':gone:')),
    ).toEqual([]);
  });

  it('hands chunks to whichever frontend works, also of one that has died', async () => {
    const [a, b] = [await frontend('a'), await frontend('b')];
    // It takes chunks, and never brings anything.
    a.work(() => new Promise(() => undefined));
    const { id } = await a.create(APPLICATION, chunked(...Array.from({ length: 20 }, () => ['1'])));
    await vi.waitFor(
      async () => expect(await direct.llen(`${keyPrefix(PREFIX)}:job-chunks:active`)).toBe(8),
      SOON,
    );
    kill(a);
    b.work(async (job, index) => void (await b.keep(job, index, result(`${index}\n`))));
    await vi.waitFor(async () => expect((await b.progress(id))?.state).toBe('done'), SOON);
    for (let index = 0; index < 20; index++) expect(await b.results(id, index)).toBe(`${index}\n`);
  });

  it('queues a job that its frontend had no time for', async () => {
    const a = await frontend('a');
    const { id } = await a.create(APPLICATION, chunked(['1'], ['2'], ['3']));
    const names = await direct.keys(`*:job-chunks:*`);
    await direct.del(...names);
    a.work(async (job, index) => void (await a.keep(job, index, result(`${index}\n`))));
    await vi.waitFor(async () => expect((await a.progress(id))?.state).toBe('done'), SOON);
  });

  it('keeps what is accepted while Redis is away, and brings it once', async () => {
    const [a, b] = [await frontend('a'), await frontend('b')];
    const before = await b.create(APPLICATION, chunked(['0']));
    await redis.kill();
    const created = await a.create(APPLICATION, chunked(['1'], ['2']));
    expect(await a.progress(created.id)).toMatchObject({ state: 'running', answered: 0 });
    expect(a.counts().spooled).toBe(1);
    for (const ask of [
      () => a.list(),
      () => a.progress(before.id),
      () => b.progress(created.id),
      () => a.cancel(created.id),
      () => a.remove(created.id),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'away' });
    // Its process dies, too.
    await a.stop();
    open.splice(open.indexOf(a), 1);
    await redis.run();
    await vi.waitFor(async () => expect(await b.progress(before.id)).toBeDefined(), SOON);
    const again = await frontend('a');
    await vi.waitFor(
      async () => expect(await b.progress(created.id)).toMatchObject({ state: 'running' }),
      SOON,
    );
    await vi.waitFor(() => expect(again.counts().spooled).toBe(0), SOON);
    expect(await b.list()).toHaveLength(2);
    expect(await b.chunk(created.id, 1)).toEqual({ firstLine: 2, lines: ['2'] });
  });

  it('works also where Redis is killed while it is being opened', async () => {
    const address = redisAddress(redis.url);
    const connections = await JobConnections.open(address);
    await redis.kill();
    const ledger = await frontend('a', 2 ** 20, connections);
    await redis.run();
    ledger.work(async (job, index) => void (await ledger.keep(job, index, result('x\n'))));
    const { id } = await ledger.create(APPLICATION, chunked(['1']));
    // By itself, and not because somebody finds it lying around.
    await vi.waitFor(async () => expect((await ledger.progress(id))?.state).toBe('done'), {
      ...SOON,
      timeout: 4000,
    });
  });

  it('takes nothing while Redis is away where it could not keep it', async () => {
    const none = await frontend(undefined);
    await redis.kill();
    await expect(none.create(APPLICATION, chunked(['1']))).rejects.toMatchObject({ code: 'away' });
    await redis.run();
    await vi.waitFor(async () => expect(await none.list()).toEqual([]), SOON);
  });

  it('brings no job again that was removed before its frontend came back', async () => {
    const a = await frontend('a');
    await a.stop();
    open.splice(open.indexOf(a), 1);
    // Delivered, and not forgotten here: as where the frontend is killed in between.
    const spool = await FileLedger.open(join(folder, 'a'), 2 ** 20);
    const { id } = await spool.create(APPLICATION, chunked(['1']));
    await spool.stop();
    cpSync(join(folder, 'a'), join(folder, 'copy'), { recursive: true });
    const first = await frontend('a');
    // The mark is there until the frontend has said that it has it no longer.
    const job = `${keyPrefix(PREFIX)}:jobs:job:${id}`;
    await vi.waitFor(
      async () => expect([await direct.exists(job), await direct.hexists(job, 'spooled')]).toEqual([1, 0]),
      SOON,
    );
    await direct.hset(job, 'spooled', '1');
    await first.remove(id);
    const second = await frontend('copy');
    await vi.waitFor(() => expect(second.counts().spooled).toBe(0), SOON);
    expect(await second.list()).toEqual([]);
  });

  it('takes over the jobs of a data directory, with what was answered', async () => {
    const alone = await FileLedger.open(join(folder, 'a'), 2 ** 20);
    const half = await alone.create(APPLICATION, chunked(['1'], ['2']));
    await alone.keep(half.id, 1, { text: 'two\n', answered: 1, failed: 1 });
    const ended = await alone.create(APPLICATION, chunked(['1'], ['2']));
    await alone.keep(ended.id, 0, result('one\n'));
    await alone.cancel(ended.id);
    await alone.stop();
    const a = await frontend('a');
    await vi.waitFor(() => expect(a.counts().spooled).toBe(0), SOON);
    expect(await a.progress(half.id)).toMatchObject({ state: 'running', answered: 1, failed: 1 });
    expect(await a.progress(ended.id)).toMatchObject({ state: 'cancelled', answered: 1 });
    expect(await a.results(half.id, 1)).toBe('two\n');
    expect(await a.results(ended.id, 0)).toBe('one\n');
    a.work(async (job, index) => void (await a.keep(job, index, result('new\n'))));
    await vi.waitFor(async () => expect((await a.progress(half.id))?.state).toBe('done'), SOON);
    expect(await a.results(half.id, 1)).toBe('two\n');
    await a.remove(half.id);
    await a.remove(ended.id);
    expect(await direct.get(`${keyPrefix(PREFIX)}:jobs:total`)).toBe('0');
  });

  it('takes no more than all may, of all frontends together, and leaves nothing of what does not fit', async () => {
    const [a, b] = [await frontend('a', 400), await frontend('b', 400)];
    const { id } = await a.create(APPLICATION, chunked(['x'.repeat(200)]));
    await expect(b.create(APPLICATION, chunked(['1'], ['y'.repeat(200)]))).rejects.toMatchObject({
      code: 'full',
      message: expect.stringMatching(/--jobs-mib/) as string,
    });
    expect(b.counts().spooled).toBe(0);
    expect(await a.list()).toHaveLength(1);
    await expect(b.keep(id, 0, result('z'.repeat(500)))).rejects.toMatchObject({ code: 'full' });
    expect(await b.keep(id, 0, result('short\n'))).toBe(true);
    await a.remove(id);
    expect(await direct.get(`${keyPrefix(PREFIX)}:jobs:total`)).toBe('0');
  });

  it('says that the memory of Redis is full, loses nothing, and goes on when there is room', async () => {
    const a = await frontend('a');
    const { id } = await a.create(APPLICATION, chunked(['1'], ['2']));
    await direct.config('SET', 'maxmemory', '1');
    await expect(a.create(APPLICATION, chunked(['3']))).rejects.toMatchObject({
      code: 'full',
      message: expect.stringMatching(/maxmemory/) as string,
    });
    await expect(a.keep(id, 0, result('one\n'))).rejects.toMatchObject({ code: 'full' });
    expect(await a.progress(id)).toMatchObject({ state: 'running', answered: 0 });
    await direct.config('SET', 'maxmemory', '0');
    expect(await a.keep(id, 0, result('one\n'))).toBe(true);
    expect(await a.list()).toHaveLength(1);
    expect(a.counts().spooled).toBe(0);
  });

  it('collects what was staged of a job whose frontend died in the middle', async () => {
    const a = await frontend('a');
    const prefix = keyPrefix(PREFIX);
    await direct
      .multi()
      .zadd(`${prefix}:jobs:uploads`, 1, 'lost')
      .hset(`${prefix}:jobs:input:lost`, '0', 'x'.repeat(50))
      .hset(`${prefix}:jobs:sizes`, 'lost input', 50)
      .incrby(`${prefix}:jobs:total`, 50)
      .exec();
    await vi.waitFor(async () => expect(await direct.get(`${prefix}:jobs:total`)).toBe('0'), SOON);
    expect(await direct.exists(`${prefix}:jobs:input:lost`)).toBe(0);
    expect(await a.list()).toEqual([]);
  });

  it('stops though Redis says nothing, and goes on with what it kept', async () => {
    const a = await frontend('a');
    a.work(() => new Promise((resolve) => setTimeout(resolve, 200)));
    const { id } = await a.create(APPLICATION, chunked(['1'], ['2']));
    redis.pause();
    const created = await a.create(APPLICATION, chunked(['3']));
    await a.stop();
    open.splice(open.indexOf(a), 1);
    redis.proceed();
    const again = await frontend('a');
    await vi.waitFor(() => expect(again.counts().spooled).toBe(0), SOON);
    expect((await again.list()).map(({ description }) => description.id)).toEqual([id, created.id]);
  });

  it('needs no more rights in Redis than the guide gives a user', async () => {
    const guide = readFileSync('docs/guides/shared-store.md', 'utf8');
    const rights = /keys `~\{NAME\}:\*` and `([^`]+)`/.exec(guide)?.[1].split(' ') ?? [];
    expect(rights).toContain('+time');
    await direct.call('ACL', 'SETUSER', 'w', 'on', '>pw', `~${keyPrefix(PREFIX)}:*`, ...rights);
    const address = redisAddress(redis.url.replace('//', '//w:pw@'));
    const a = await frontend('a', 2 ** 20, await JobConnections.open(address));
    a.work(async (job, index) => void (await a.keep(job, index, result('x\n'))));
    const { id } = await a.create(APPLICATION, chunked(['1'], ['2']));
    await vi.waitFor(async () => expect((await a.progress(id))?.state).toBe('done'), SOON);
    await vi.waitFor(() => expect(a.counts().jobs.done).toBe(1), SOON);
    await vi.waitFor(
      async () => expect(await direct.exists(`${keyPrefix(PREFIX)}:lease:jobs`)).toBe(1),
      SOON,
    );
    await a.remove(id);
  });

  it('counts what there is, as it was seen last', async () => {
    const a = await frontend('a');
    const { id } = await a.create(APPLICATION, chunked(['1', '2'], ['3']));
    await a.keep(id, 1, result('c\n'));
    const { id: other } = await a.create(APPLICATION, chunked(['1']));
    await a.cancel(other);
    await vi.waitFor(
      () =>
        expect(a.counts()).toMatchObject({ jobs: { running: 1, done: 0, cancelled: 1 }, linesPending: 2 }),
      SOON,
    );
  });
});
