import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';

describe('pipelined queries', () => {
  let harness: FrontendHarness;
  beforeEach(async () => {
    harness = await FrontendHarness.start();
  });
  afterEach(() => harness.close());

  const request = (body: object): string => {
    const text = JSON.stringify(body);
    return `POST /doubles/predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  };

  it('are all withdrawn when the client is gone, those behind others too', async () => {
    const { service } = harness;
    service.holding = true;
    const taken = new Promise<void>((resolve) => {
      service.onQuery = () => service.queries.length === 14 && resolve();
    });
    const withdrawn = new Promise<void>((resolve) => {
      service.onCancel = () => service.cancelled.length === 14 && resolve();
    });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const socket = connect(harness.address.port, '127.0.0.1');
    socket.write(request({ input: [1] }).repeat(12) + request({ input_batch: [[1], [2]] }));
    await taken;
    socket.destroy();
    await withdrawn;
    process.off('warning', onWarning);
    expect(new Set(service.cancelled)).toEqual(new Set(service.queries.map(({ id }) => id)));
    expect(warnings).toEqual([]);
  });

  it('are answered in their order, and those that were answered are not withdrawn', async () => {
    const { service } = harness;
    service.holding = true;
    const taken = new Promise<void>((resolve) => {
      service.onQuery = () => service.queries.length === 3 && resolve();
    });
    const socket = connect(harness.address.port, '127.0.0.1');
    socket.write([1, 2, 3].map((value) => request({ input: [value] })).join(''));
    await taken;
    const answered = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (part: Buffer) => {
        text += part.toString('latin1');
        if (text.split('query_id').length === 4) resolve(text);
      });
    });
    service.releaseReversed();
    const ids = [...(await answered).matchAll(/"query_id":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(service.queries.map(({ id }) => id));
    socket.destroy();
    expect(service.cancelled).toEqual([]);
  });

  it('are asked for one after the other where they are large batches', async () => {
    const { service } = harness;
    service.holding = true;
    const batch = Array.from({ length: 4_000 }, (_, at) => [at]);
    const next = (count: number) =>
      new Promise<void>((resolve) => {
        service.onQuery = () => service.queries.length === count && resolve();
      });
    const socket = connect(harness.address.port, '127.0.0.1');
    const first = next(batch.length);
    socket.resume().write(request({ input_batch: batch }).repeat(3));
    await first;
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    expect(service.queries).toHaveLength(batch.length);
    const second = next(2 * batch.length);
    service.releaseReversed();
    await second;
    socket.destroy();
  });
});
