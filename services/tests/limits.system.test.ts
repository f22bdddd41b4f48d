import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

/** What a connection says until it is closed. */
async function untilClosed(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  socket.write(text);
  await once(socket, 'close');
  return said;
}

describe('limits of windjammer serve', () => {
  let served: ServedProcess | undefined;
  afterEach(async () => {
    await served?.end('SIGKILL');
    served = undefined;
  });

  it('are what the command line says', async () => {
    served = await ServedProcess.start([
      ...['--ephemeral', '--max-body-mib', '0.25', '--max-batch-inputs', '3'],
      ...['--headers-timeout-ms', '300', '--request-timeout-ms', '600', '--keep-alive-timeout-ms', '200'],
      ...['--allow-origin', 'https://one.example', 'https://two.example:8443'],
    ]);
    const predict = `${served.query}/noop/predict`;
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(predict, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

    expect((await send('{"input":[1]}'.padEnd(262_144))).status).toBe(200);
    expect((await send('{"input":[1]}'.padEnd(262_145))).status).toBe(413);
    expect((await send('{"input_batch":[[1],[2],[3]]}')).status).toBe(200);
    expect((await send('{"input_batch":[[1],[2],[3],[4]]}')).status).toBe(413);

    for (const origin of ['https://one.example', 'https://two.example:8443']) {
      const { headers } = await send('{"input":[1]}', { origin });
      expect(headers.get('access-control-allow-origin')).toBe(origin);
    }
    const stranger = await send('{"input":[1]}', { origin: 'https://three.example' });
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();
    const management = await fetch(`${served.management}/admin/ping`, {
      headers: { origin: 'https://one.example' },
    });
    expect(management.headers.get('access-control-allow-origin')).toBeNull();

    const head = 'POST /noop/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    expect(await untilClosed(served.query, head)).toContain('"code":"request_timeout"');
    const slow = `${head}Content-Length: 100\r\n\r\n{`;
    expect(await untilClosed(served.query, slow)).toContain('"code":"request_timeout"');
    const idle = `${head}Content-Length: 13\r\n\r\n{"input":[1]}`;
    expect(await untilClosed(served.query, idle)).toContain('HTTP/1.1 200');
  });

  it.each([
    [['--max-body-mib', '0'], 'from 0.0009765625'],
    [['--max-body-mib', '1025'], 'to 1024'],
    [['--max-body-mib', '0.3'], 'whole number of bytes'],
    [['--max-batch-inputs', '0'], 'from 1 to 1048576'],
    [['--headers-timeout-ms', '99'], 'from 100 to 3600000'],
    [['--request-timeout-ms', 'soon'], 'from 100 to 3600000'],
    [['--headers-timeout-ms', '5000', '--request-timeout-ms', '4000'], 'is longer than --request-timeout-ms'],
    [['--allow-origin', 'page.example'], 'expected https://HOST'],
    [['--allow-origin', 'https://page.example/'], 'browsers write this origin as https://page.example'],
    [['--allow-origin', 'https://page.example:443'], 'browsers write this origin as https://page.example'],
    [['--allow-origin', 'null'], 'expected https://HOST'],
  ])('%j is refused by name', async (args, message) => {
    await expect(ServedProcess.start(['--ephemeral', ...args])).rejects.toThrow(message);
  });
});
