import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../errors/index.js';
import { encodePredict } from '../wire/index.js';
import { queryBudgetNs, readQueryHeaders } from './queryHeaders.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

const MS = 1e6;

/** Milliseconds that the headers leave. */
function leftMs(headers: Record<string, string>): number | undefined {
  const read = readQueryHeaders(headers);
  if (read instanceof ServiceError) throw read;
  return read.dueMs === undefined ? undefined : read.dueMs - performance.now();
}

describe('the deadline of a request', () => {
  it.each([
    [{ 'x-request-timeout-ms': '250' }, 250],
    [{ 'grpc-timeout': '250m' }, 250],
    [{ 'grpc-timeout': '2S' }, 2000],
    [{ 'grpc-timeout': '1H' }, 3_600_000],
    [{ 'grpc-timeout': '3M' }, 180_000],
    [{ 'grpc-timeout': '99999999u' }, 99_999.999],
    [{ 'grpc-timeout': '00005000n' }, 0.005],
    [{ 'x-request-timeout-ms': '300', 'grpc-timeout': '200m' }, 200],
    [{ 'x-request-timeout-ms': '200', 'grpc-timeout': '300m' }, 200],
  ])('%j', (headers, ms) => {
    const left = leftMs(headers);
    expect(left).toBeLessThanOrEqual(ms);
    // The time of the test itself.
    expect(left).toBeGreaterThan(ms - 1000);
  });

  it('is not there unless it is given', () => {
    expect(leftMs({})).toBeUndefined();
    expect(leftMs({ 'x-windjammer-priority': '1' })).toBeUndefined();
  });

  it('shortens the objective and never lengthens it', () => {
    const inAnHour = performance.now() + 3_600_000;
    expect(queryBudgetNs(100_000, undefined, undefined)).toBeUndefined();
    expect(queryBudgetNs(100_000, 5000, undefined)).toBe(5 * MS);
    expect(queryBudgetNs(100_000, 500_000, undefined)).toBe(100 * MS);
    expect(queryBudgetNs(100_000, undefined, inAnHour)).toBe(100 * MS);
    expect(queryBudgetNs(100_000, 5000, inAnHour)).toBe(5 * MS);
    const soon = queryBudgetNs(3_600_000_000, 3_600_000_000, performance.now() + 1000);
    expect(soon).toBeLessThanOrEqual(1000 * MS);
    expect(soon).toBeGreaterThan(0);
    expect(queryBudgetNs(100_000, 5000, performance.now() - 1)).toBe(0);
  });
});

describe('options of a query', () => {
  let harness: FrontendHarness;
  beforeEach(async () => {
    harness = await FrontendHarness.start();
  });
  afterEach(() => harness.close());

  it.each([
    ['x-windjammer-strict', ['yes', '1', 'TRUE', '', 'true, true']],
    ['x-windjammer-launch-class', ['urgent', '', 'Critical', 'critical, standard']],
    ['x-windjammer-priority', ['0', '6', '-1', '1.5', '01', 'high', '', '1, 2']],
    ['x-request-timeout-ms', ['0', '-5', '1.5', '1e3', '10 ms', '', 'NaN', '1234567890123', '5, 6']],
    ['grpc-timeout', ['0m', '-1S', '5', 'm', '123456789m', '5s', '1.5S', '', '5m5']],
  ])('refuses bad values of %s by name, and keeps the connection', async (name, values) => {
    let connection: number | undefined;
    for (const value of values) {
      const answer = await harness.predict('doubles', { input: [1] }, { [name]: value });
      expect([value, answer.status, answer.json]).toMatchObject([
        value,
        400,
        { error: { code: 'invalid_value', field: name } },
      ]);
      expect(answer.localPort).toBe((connection ??= answer.localPort));
    }
    expect(harness.service.queries).toEqual([]);
    expect(harness.refused).toHaveLength(values.length);
    const good = await harness.predict('doubles', { input: [1] });
    expect([good.status, good.localPort]).toEqual([200, connection]);
  });

  it('counts the time that the body takes', async () => {
    const timeoutMs = 10_000;
    const { budgetNs, bodyMs } = await slowBody(harness, timeoutMs, 3);
    expect(bodyMs).toBeGreaterThan(3);
    expect(budgetNs).toBeLessThanOrEqual((timeoutMs - bodyMs) * MS);
    expect(budgetNs).toBeGreaterThan(0);
  });

  it('leaves nothing when the body took it all', async () => {
    expect((await slowBody(harness, 1, 3)).budgetNs).toBe(0);
  });

  it('goes with every input of a batch', async () => {
    const headers = { 'x-request-timeout-ms': '50', 'x-windjammer-priority': '2' };
    await harness.predict('doubles', { input_batch: [[1], [2]] }, headers);
    const [first, second] = harness.service.queries;
    expect([first.priority, second.priority]).toEqual([2, 2]);
    for (const { budgetNs } of [first, second]) expect(budgetNs).toBeLessThanOrEqual(50 * MS);
  });

  it('takes the class of the body before that of the header', async () => {
    const header = { 'x-windjammer-launch-class': 'standard' };
    await harness.predict('doubles', { input: [1] }, header);
    await harness.predict('doubles', { input: [1], launch_class: 'bestEffort' }, header);
    await harness.predict('doubles', { input: [1] });
    expect(harness.service.queries.map(({ launchClass }) => launchClass)).toEqual([
      'standard',
      'bestEffort',
      undefined,
    ]);
  });

  it('takes the priority of the body before that of the header, and of messages', async () => {
    const header = { 'x-windjammer-priority': '4' };
    await harness.predict('doubles', { input: [1] });
    await harness.predict('doubles', { input: [1] }, header);
    await harness.predict('doubles', { input: [1], priority: 1 }, header);
    const socket = await TestSocket.open(harness);
    socket.send({ type: 'predict', id: 1, application: 'doubles', input: [1], priority: 5 });
    await socket.next();
    const input = new Uint8Array(8);
    for (const priority of [2, undefined]) {
      socket.send(encodePredict({ id: 1, application: 'doubles', inputType: 'doubles', input, priority }));
      await socket.next();
    }
    expect(harness.service.queries.map(({ priority }) => priority)).toEqual([
      undefined,
      4,
      1,
      5,
      2,
      undefined,
    ]);
    socket.send(encodePredict({ id: 3, application: 'doubles', inputType: 'doubles', input, priority: 9 }));
    const bad = (await socket.next()).data.toString('latin1');
    expect(bad).toContain('priority must be a whole number from 1 (most urgent) to 5');
    socket.close();
  });

  it('does not mind the Priority header of browsers', async () => {
    const { status } = await harness.predict('doubles', { input: [1] }, { priority: 'u=1, i' });
    expect(status).toBe(200);
    expect(harness.service.queries[0].priority).toBeUndefined();
  });
});

/** A request whose body comes at least `atLeastMs` after its headers have been read. @returns what its query got */
async function slowBody(
  harness: FrontendHarness,
  timeoutMs: number,
  atLeastMs: number,
): Promise<{ readonly budgetNs: number | undefined; readonly bodyMs: number }> {
  const body = '{"input":[42]}';
  const socket = connect(harness.address.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /doubles/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nx-request-timeout-ms: ${timeoutMs}\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  // The server asks for the body: it has read the headers.
  await once(socket, 'data');
  const askedMs = performance.now();
  do await harness.predict('floats', { input: [1] });
  while (performance.now() - askedMs <= atLeastMs);
  const bodyMs = performance.now() - askedMs;
  socket.write(body);
  await once(socket, 'data');
  socket.destroy();
  const query = harness.service.queries.find(({ application }) => application === 'doubles');
  return { budgetNs: query?.budgetNs, bodyMs };
}
