import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawPeer } from '../containers/runtime/clipper/tests/rawPeer.js';
import {
  TwinContainer,
  uint32,
  type TwinOptions,
} from '../containers/runtime/clipper/tests/twinContainer.js';
import { WindjammerClient } from './client/index.js';
import { originOf } from './http/index.js';
import type { EmbeddedOptions, EmbeddedServer } from './main.js';
import { startEmbedded } from './tests/embeddedServer.js';

const INPUTS = { bytes: 'AAEC', integers: [1, -2], floats: [0.5], doubles: [0.1, 2], strings: 'ñ' } as const;
type InputType = keyof typeof INPUTS;

/** A whole server, and containers on libzmq. */
describe('containers that dial in', () => {
  let server: EmbeddedServer;
  let client: WindjammerClient;
  let complaints: { readonly message: string; readonly details: Readonly<Record<string, unknown>> }[];
  let twins: TwinContainer[];
  let port: number;

  async function start(options: Partial<EmbeddedOptions> = {}): Promise<void> {
    server = await startEmbedded({
      clipper: { host: '127.0.0.1', port: 0 },
      complain: (message, details) => complaints.push({ message, details }),
      ...options,
    });
    port = server.containerAddress?.port ?? 0;
    client = new WindjammerClient({
      queryUrl: originOf(server.queryAddress, false),
      managementUrl: originOf(server.managementAddress, false),
    });
  }

  beforeEach(async () => {
    complaints = [];
    twins = [];
    await start();
  });
  afterEach(async () => {
    for (const one of twins) one.stop();
    await server.stop({ noticeMs: 0, graceMs: 0 });
  });

  function twin(options: Partial<TwinOptions> = {}): TwinContainer {
    const made = new TwinContainer({
      port,
      model: 'm',
      version: '1',
      inputType: 'doubles',
      predict: (inputs) => inputs.map((input) => `${input.length} bytes`),
      ...options,
    });
    twins.push(made);
    return made;
  }

  async function register(inputType: InputType = 'doubles', version = '1'): Promise<void> {
    await client.management.addModel({
      model_name: 'm',
      model_version: version,
      input_type: inputType,
      container_name: 'clipper/python-closure-container:0.4.1',
      model_data_path: '/model',
    });
  }

  async function link(inputType: InputType = 'doubles', objectiveMs = 5000): Promise<void> {
    await client.management.addApplication({
      name: 'app',
      input_type: inputType,
      default_output: 'none',
      latency_slo_micros: objectiveMs * 1000,
    });
    await client.management.addLinks('app', ['m']);
  }

  const replicas = () =>
    server.replicas().map(({ version, replica, state }) => `${version}#${replica} ${state}`);
  const upIs = (...wanted: string[]) =>
    expect.poll(replicas, { timeout: 10_000 }).toEqual(wanted.map((which) => `${which} up`));
  const told = (part: string) =>
    expect.poll(() => JSON.stringify(complaints), { timeout: 10_000 }).toContain(part);
  const ready = async (): Promise<unknown> =>
    (await fetch(`${originOf(server.queryAddress, false)}/readyz`)).json();

  /** The output, or why it is the default. */
  async function ask(input: unknown = INPUTS.doubles): Promise<unknown> {
    const response = await fetch(`${originOf(server.queryAddress, false)}/app/predict`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return answer.default === false ? answer.output : JSON.stringify(answer);
  }

  it.each([
    ['bytes', '3 bytes'],
    ['integers', '8 bytes'],
    ['floats', '4 bytes'],
    ['doubles', '16 bytes'],
    ['strings', '2 bytes'],
  ] as const)('answer queries of %s', async (inputType, output) => {
    await register(inputType);
    await link(inputType);
    twin({ inputType });
    await upIs('1#0');
    expect(await ask(INPUTS[inputType])).toBe(output);
  });

  it('are replicas like others: to management, metrics, readiness and the repository', async () => {
    await register();
    await link();
    expect(JSON.stringify(await ready())).toContain('none of its containers has dialled in');
    twin();
    twin();
    await upIs('1#0', '1#1');
    expect(JSON.stringify(await ready())).not.toContain('dialled in');
    for (let one = 0; one < 20; one++) await ask([one]);
    expect(await client.management.model('m', '1')).toMatchObject({
      container_name: 'clipper/python-closure-container:0.4.1',
      model_data_path: '/model',
      replicas_up: 2,
    });
    expect(await client.management.containers()).toMatchObject([
      { replica_id: 0, state: 'up' },
      { replica_id: 1, state: 'up' },
    ]);
    const metrics = await (await fetch(`${originOf(server.queryAddress, false)}/metrics`)).text();
    expect(metrics).toMatch(/windjammer_replicas\{[^}]*model="m"[^}]*state="up"[^}]*\} 2/);
    expect(metrics).toContain('windjammer_connections{interface="containers"} 2');
    // Both have had some of them.
    expect(twins.map(({ events }) => events.some((event) => event.startsWith('batch')))).toEqual([
      true,
      true,
    ]);
    await expect(
      client.management.setReplicas({ model_name: 'm', model_version: '1', num_replicas: 3 }),
    ).rejects.toThrow('is not started by this server');
  });

  it('are asked many inputs at once', async () => {
    await register();
    await link();
    const batches: number[] = [];
    twin({
      predict: (inputs) => {
        batches.push(inputs.length);
        return inputs.map((input) => String(input.readDoubleLE()));
      },
    });
    await upIs('1#0');
    const asked = Array.from({ length: 300 }, (_, at) => at);
    expect(await Promise.all(asked.map((at) => ask([at])))).toEqual(asked);
    expect(Math.max(...batches)).toBeGreaterThan(1);
  });

  it('serve as soon as their version is registered, and another one as soon as that is current', async () => {
    twin();
    await told('no such version of a model is registered');
    expect(replicas()).toEqual([]);
    await register();
    await link();
    await upIs('1#0');
    // A new version has nobody yet: the one before answers on.
    await register('doubles', '2');
    expect(await ask([1])).toBe('8 bytes');
    twin({ version: '2', predict: (inputs) => inputs.map(() => 'two') });
    await upIs('1#0', '2#0');
    let fresh = 0;
    await expect.poll(() => ask([2, fresh++])).toBe('two');
  });

  it('of a type that is not the registered one do not serve', async () => {
    await register('integers');
    twin();
    await told('it takes doubles, and is registered with integers');
    expect(replicas()).toEqual([]);
  });

  it('of a version that this server runs itself do not serve', async () => {
    await client.management.addModel({
      model_name: 'm',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: 'own',
    });
    await link();
    twin();
    await told('registered as one that this server runs');
    await upIs('1#0');
    expect(await ask()).toBe('own');
  });

  it('go with their version, and are there again when it is registered anew', async () => {
    await register();
    twin();
    await upIs('1#0');
    await client.management.deleteModel('m', '1');
    await expect.poll(replicas).toEqual([]);
    await told('no such version of a model is registered');
    await register();
    await upIs('1#0');
  });

  it('that end amid a batch lose no query while another is there', async () => {
    await register();
    await link();
    const dying: TwinContainer = twin({
      predict: () => {
        dying.stop();
        return undefined;
      },
    });
    await upIs('1#0');
    const first = ask([1]);
    await expect.poll(() => dying.events.at(-1)).toBe('batch 1');
    twin();
    expect(await first).toBe('8 bytes');
    await told('it closed its connection');
    await upIs('1#0');
  });

  it('that never answer are lost, and others answer; an answer that comes later is nobody’s', async () => {
    await server.stop({ noticeMs: 0, graceMs: 0 });
    await start({ hangWatchdog: { minimumMs: 100, firstAnswerMs: 300 } });
    await register();
    await link();
    let isMute = true;
    const mute = twin({ predict: (inputs) => (isMute ? undefined : inputs.map(() => 'late')) });
    await upIs('1#0');
    const asked = ask([1]);
    await told('it hangs');
    twin();
    expect(await asked).toBe('8 bytes');
    // Its connection was ended: it has dialled again, answers what it was asked before, and serves.
    isMute = false;
    await mute.answer(Buffer.from([7, 0, 0, 0]), ['from before']);
    await expect.poll(() => replicas().length).toBe(2);
    for (let one = 0; one < 50; one++) expect(['8 bytes', 'late']).toContain(await ask([one, one].slice(1)));
  });

  it('that lie about what they take end themselves: others go on, and it is told', async () => {
    await register();
    await link();
    // It says doubles, and ends itself when it is asked some.
    const lying = twin({
      predict: () => {
        throw new Error('these are no strings');
      },
    });
    await upIs('1#0');
    const asked = ask([1]);
    await lying.ended;
    expect(lying.failure).toMatchObject({ message: 'these are no strings' });
    twin();
    expect(await asked).toBe('8 bytes');
  });

  it('that answer another number of outputs fail their batches, and nobody else’s', async () => {
    await register();
    await link();
    let isWrong = true;
    twin({ predict: (inputs) => (isWrong ? ['1', '2', '3', '4', '5'] : inputs.map(() => 'right')) });
    await upIs('1#0');
    expect(await ask([1])).toContain('model_error');
    await told('its answer has 5 outputs, it was asked 1 inputs');
    isWrong = false;
    expect(await ask([2])).toBe('right');
  });

  it('are no more than may serve at once; the next follows when one goes', async () => {
    await server.stop({ noticeMs: 0, graceMs: 0 });
    await start({ clipper: { host: '127.0.0.1', port: 0, maxContainers: 2 } });
    await register();
    for (let one = 0; one < 5; one++) twin();
    await upIs('1#0', '1#1');
    await told('2 serve already, which are the most: see --clipper-max-containers');
    twins[0].stop();
    twins[1].stop();
    twins[2].stop();
    await expect.poll(() => replicas().filter((text) => text.endsWith('up')).length).toBe(2);
  });

  it('serve on beside a thousand that nobody has registered, each of which is known', async () => {
    await register();
    await link();
    const crowd: RawPeer[] = [];
    for (let at = 0; at < 1000; at++) {
      const peer = await RawPeer.ready(port);
      const said = [`stranger${at}`, '1', '3'].map((text) => Buffer.from(text));
      peer.say([Buffer.alloc(0), uint32(0), ...said, uint32(3)]);
      crowd.push(peer);
    }
    twin();
    await upIs('1#0');
    expect(await ask([1])).toBe('8 bytes');
    expect(crowd.filter((peer) => peer.isClosed)).toEqual([]);
    // All of them are told of in one line, and how many were not told in the next.
    expect(complaints.filter(({ message }) => message.includes('does not serve'))).toHaveLength(1);
    for (const peer of crowd) peer.end();
  });

  it('that come and go all the time cost the others nothing', async () => {
    await register();
    await link();
    twin();
    await upIs('1#0');
    const said = ['m', '1', '3'].map((text) => Buffer.from(text));
    for (let round = 0; round < 300; round++) {
      const peer = await RawPeer.ready(port);
      peer.say([Buffer.alloc(0), uint32(0), ...said, uint32(3)]);
      await new Promise((resolve) => setImmediate(resolve));
      peer.end();
      if (round % 30 === 0) expect(await ask([round])).toBe('8 bytes');
    }
    await upIs('1#0');
    expect(await ask([-1])).toBe('8 bytes');
  });

  it('need a port that is free: the start says so, and leaves nothing behind', async () => {
    await expect(startEmbedded({ clipper: { host: '127.0.0.1', port } })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the port is in use`,
    );
  });

  it('come back by themselves when the server is started again', async () => {
    await register();
    twin();
    await upIs('1#0');
    const { port: same } = server.containerAddress ?? { port: 0 };
    await server.stop({ noticeMs: 0, graceMs: 0 });
    await start({ clipper: { host: '127.0.0.1', port: same } });
    await register();
    await link();
    await upIs('1#0');
    expect(await ask([1])).toBe('8 bytes');
    expect(twins[0].events.filter((event) => event === 'metadata').length).toBeGreaterThan(1);
  });

  it('cannot where no port is open: a model that waits for one is refused, and its links', async () => {
    await server.stop({ noticeMs: 0, graceMs: 0 });
    await start({ clipper: undefined });
    expect(server.containerAddress).toBeUndefined();
    await expect(register()).rejects.toThrow('can dial in: start the server with --clipper-port');
    // One of a time when a port was open.
    await server.registry.addModel({
      name: 'm',
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'external', containerName: 'x', modelDataPath: '' },
      batching: { strategy: 'aimd' },
    });
    await expect(link()).rejects.toThrow('can dial in: start the server with --clipper-port');
    expect(JSON.stringify(await ready())).toContain('no port is open for its containers');
  });

  it('and a misspelt name of our own is no such container', async () => {
    await expect(
      client.management.addModel({
        model_name: 'm',
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/proces',
      }),
    ).rejects.toThrow("there is no container 'windjammer/proces'");
  });
});
