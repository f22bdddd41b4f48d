import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';

describe('drain', () => {
  it('turns unready first, answers what is in flight, and closes every connection', async () => {
    const harness = await FrontendHarness.start();
    const { service, frontend } = harness;
    service.holding = true;
    const taken = new Promise<void>((resolve) => (service.onQuery = resolve));
    const inFlight = harness.predict('doubles', { input: [1] });
    await taken;

    // A notice so long that only its own requests end this test's part of it.
    const drained = frontend.drain(300, 5000);
    const other = Object.assign(Object.create(harness) as FrontendHarness, {
      agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    });
    const ready = await other.send('/readyz', { method: 'GET' });
    expect(ready.status).toBe(503);
    expect(ready.json).toMatchObject({ error: { code: 'not_ready' } });
    expect(ready.headers.connection).toBe('close');
    expect((await other.send('/healthz', { method: 'GET' })).status).toBe(200);

    service.release();
    const answer = await inFlight;
    expect(answer.status).toBe(200);
    // The query came before the drain; its answer tells the client to move on all the same.
    expect(answer.headers.connection).toBe('close');
    await drained;
    await expect(other.send('/healthz', { method: 'GET' })).rejects.toThrow(/ECONNREFUSED/);
    await frontend.drain(0, 0);
    other.agent.destroy();
    harness.agent.destroy();
  });

  it('refuses a new query on a connection that is still open', async () => {
    const harness = await FrontendHarness.start();
    const { service, frontend } = harness;
    service.holding = true;
    let queries = 0;
    const taken = new Promise<void>((resolve) => {
      service.onQuery = () => {
        queries += 1;
        resolve();
      };
    });
    const { connect } = await import('node:net');
    const socket = connect(harness.address.port, '127.0.0.1');
    const body = '{"input":[1]}';
    const request = `POST /doubles/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(request);
    await taken;
    const drained = frontend.drain(0, 5000);
    // Pipelined behind the one in flight: no connection of its own is needed.
    socket.write(request);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await new Promise((resolve) => setImmediate(resolve));
    service.release();
    await new Promise((resolve) => socket.on('close', resolve));
    await drained;
    expect(queries).toBe(1);
    expect(text).toContain('HTTP/1.1 200');
    expect(text).toContain('Connection: close');
  });

  it('cuts what is left after the grace', async () => {
    const harness = await FrontendHarness.start();
    const { service, frontend } = harness;
    service.holding = true;
    const taken = new Promise<void>((resolve) => (service.onQuery = resolve));
    const lost = harness.predict('doubles', { input: [1] });
    const failure = expect(lost).rejects.toThrow();
    await taken;
    const drained = frontend.drain(0, 20);
    await failure;
    service.release();
    await drained;
    harness.agent.destroy();
  });

  it('is not ready before it is told so', async () => {
    const harness = await FrontendHarness.start();
    await harness.close();
    const { QueryFrontend } = await import('./index.js');
    const starting = new QueryFrontend({
      registry: harness.registry,
      service: harness.service,
      metrics: () => Promise.resolve({ contentType: 'text/plain', bytes: Buffer.from('') }),
      queryIdPrefix: 'x',
    });
    const { port } = await starting.listen({ host: '127.0.0.1', port: 0 });
    const readyz = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    expect(await readyz()).toBe(503);
    starting.markReady();
    expect(await readyz()).toBe(200);
    await starting.drain(0, 100);
  });
});
