import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { RefusedError, SecurityError, UnreachableError, WebSocketClient, WindjammerClient } from './index.js';

const folder = new URL('../http/tests/certificates/', import.meta.url);
const pem = (name: string) => readFileSync(fileURLToPath(new URL(`${name}.pem`, folder)), 'latin1');
const own = { cert: pem('server'), key: pem('server-key') };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Answers feedback, and says in it which key came. */
const answer: RequestListener = (request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ joined: request.headers.authorization ?? 'none', durable: true }));
};
const feedback = { queryId: 'q', label: 1 };

describe('a client', () => {
  it('shows its key, over TLS to a server whose authority it was given', async () => {
    const port = await listen(createServer(own, answer));
    const queryUrl = `https://localhost:${port}`;
    const client = new WindjammerClient({ queryUrl, ca: pem('authority'), apiKey: 'wj_a_b' });
    expect((await client.feedback('a', feedback)).joined).toBe('Bearer wj_a_b');
    const nobody = new WindjammerClient({ queryUrl, ca: pem('authority') });
    expect((await nobody.feedback('a', feedback)).joined).toBe('none');
  });

  it('shows its key to no other server, whatever an application is called', async () => {
    const paths: (string | undefined)[] = [];
    const port = await listen(
      createPlainServer((request, response) => {
        paths.push(request.url);
        answer(request, response);
      }),
    );
    const client = new WindjammerClient({ queryUrl: `http://127.0.0.1:${port}/base/`, apiKey: 'wj_a_b' });
    const atRoot = new WindjammerClient({ queryUrl: `http://127.0.0.1:${port}`, apiKey: 'wj_a_b' });
    for (const name of ['', '..', '/x', '\\x', 'http://x']) {
      expect((await client.feedback(name, feedback)).joined).toBe('Bearer wj_a_b');
      expect((await atRoot.feedback(name, feedback)).joined).toBe('Bearer wj_a_b');
    }
    expect(paths.slice(0, 4)).toEqual(['/base//update', '//update', '/base/../update', '/../update']);
  });

  it('shows its certificate to a server that asks for one', async () => {
    const options = { ...own, ca: pem('authority'), requestCert: true, rejectUnauthorized: true };
    const queryUrl = `https://localhost:${await listen(createServer(options, answer))}`;
    const ca = pem('authority');
    const client = new WindjammerClient({ queryUrl, ca, cert: pem('client'), key: pem('client-key') });
    expect((await client.feedback('a', feedback)).durable).toBe(true);
    await expect(new WindjammerClient({ queryUrl, ca }).feedback('a', feedback)).rejects.toThrow();
  });

  it('does not send its key to a server that it does not trust', async () => {
    let asked = 0;
    const port = await listen(
      createServer(own, (request, response) => {
        asked += 1;
        answer(request, response);
      }),
    );
    const strange = new WindjammerClient({ queryUrl: `https://localhost:${port}`, apiKey: 'wj_a_b' });
    const failed = strange.feedback('a', feedback);
    await expect(failed).rejects.toBeInstanceOf(SecurityError);
    await expect(failed).rejects.toThrow(/--ca FILE/);
    const other = new WindjammerClient({ queryUrl: `https://127.0.0.2:${port}`, ca: pem('authority') });
    await expect(other.feedback('a', feedback)).rejects.toThrow();
    await expect(WebSocketClient.connect(`https://localhost:${port}`)).rejects.toBeInstanceOf(SecurityError);
    expect(asked).toBe(0);
  });

  it('says when one side speaks TLS and the other does not', async () => {
    const plain = await listen(createPlainServer(answer));
    const secure = await listen(createServer(own, answer));
    const client = new WindjammerClient({ queryUrl: `https://localhost:${plain}` });
    await expect(client.feedback('a', feedback)).rejects.toThrow(SecurityError);
    // A server of TLS breaks the connection off, as one that dies does.
    const other = new WindjammerClient({ queryUrl: `http://localhost:${secure}` });
    const broken = other.feedback('a', feedback);
    await expect(broken).rejects.toBeInstanceOf(UnreachableError);
    await expect(broken).rejects.toThrow(/if the server speaks TLS, ask https/);
  });

  it('says why a server does not take its WebSocket', async () => {
    const port = await listen(
      createPlainServer().on('upgrade', (_request, socket) => {
        const body = JSON.stringify({ error: { code: 'key_required', message: 'no key came' } });
        const type = 'Content-Type: application/json\r\nConnection: close';
        socket.end(`HTTP/1.1 401 Unauthorized\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }),
    );
    const refused = WebSocketClient.connect(`http://127.0.0.1:${port}`);
    await expect(refused).rejects.toBeInstanceOf(RefusedError);
    await expect(refused).rejects.toMatchObject({ code: 'key_required', status: 401 });
  });

  it.each(['a b', 'a\r\nX-Other: 1', 'ключ', ''])(
    'refuses the key %j before it asks, without showing it',
    (apiKey) => {
      expect(() => new WindjammerClient({ apiKey })).toThrow(TypeError);
      expect(() => new WindjammerClient({ apiKey })).toThrow(/^the API key is empty, or has/);
    },
  );
});
