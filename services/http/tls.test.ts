import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Certificates, JsonServer, TlsError } from './index.js';
import { certificateFile, echo, getSecurely, pem } from './tests/servers.js';

let folder: string;
let files: { readonly cert: string; readonly key: string };
let told: string[];
const open: { close(): unknown }[] = [];

beforeEach(() => {
  told = [];
  folder = mkdtempSync(join(tmpdir(), 'windjammer-tls-'));
  files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  copyFileSync(certificateFile('server'), files.cert);
  copyFileSync(certificateFile('server-key'), files.key);
});

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  rmSync(folder, { recursive: true });
});

function load(of: { cert?: string; key?: string; ca?: string } = {}, pollMs?: number): Certificates {
  const complain = (message: string) => told.push(message);
  const certificates = new Certificates({ ...files, ...of }, complain, pollMs);
  open.push(certificates);
  return certificates;
}

async function serve(certificates: Certificates, headersMs = 10_000): Promise<number> {
  const timeouts = { headersMs, requestMs: 30_000, keepAliveMs: 65_000 };
  const server = new JsonServer(echo, { certificates, timeouts });
  open.push({ close: () => server.close(0) });
  return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
}

function secureSocket(port: number, options: { readonly maxVersion?: 'TLSv1.1' } = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const minVersion = options.maxVersion === undefined ? undefined : 'TLSv1';
    const socket = connectSecurely({ port, host: 'localhost', ca: pem('authority'), minVersion, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Whatever comes until then is thrown away. */
function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined).resume();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

describe('a server with a certificate', () => {
  it('answers over TLS, and refuses older versions of it', async () => {
    const port = await serve(load());
    expect(await getSecurely(port, { path: '/a' })).toEqual({ status: 200, text: '"/a"' });
    await expect(secureSocket(port, { maxVersion: 'TLSv1.1' })).rejects.toThrow();
    expect(told).toEqual([]);
  });

  it('shows a renewed certificate to those who come, and keeps the connections that are there', async () => {
    const certificates = load();
    const port = await serve(certificates);
    const before = await secureSocket(port);
    copyFileSync(certificateFile('renewed'), files.cert);
    expect(certificates.reload()).toBe(false);
    copyFileSync(certificateFile('renewed-key'), files.key);
    expect(certificates.reload()).toBe(true);
    const after = await secureSocket(port);
    expect(before.getPeerCertificate().subject.CN).toBe('Windjammer test server');
    expect(after.getPeerCertificate().subject.CN).toBe('Windjammer test renewed');
    const answer = new Promise<string>((resolve) =>
      before.once('data', (part: Buffer) => resolve(part.toString())),
    );
    before.write('GET /still HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await answer).toContain('"/still"');
    before.destroy();
    after.destroy();
  });

  it('finds by itself that the files changed', async () => {
    const certificates = load({}, 10);
    const changed = new Promise<void>((resolve) => certificates.watch(() => resolve()));
    copyFileSync(certificateFile('renewed-key'), files.key);
    copyFileSync(certificateFile('renewed'), files.cert);
    await changed;
    expect(certificates.context.cert).toBe(pem('renewed'));
  });

  it('goes on with what it had when the files are damaged or gone', async () => {
    const certificates = load();
    const port = await serve(certificates);
    writeFileSync(files.cert, 'garbage');
    expect(certificates.reload()).toBe(false);
    rmSync(files.key);
    expect(certificates.reload()).toBe(false);
    expect((await getSecurely(port)).status).toBe(200);
    expect(told).toEqual(Array(2).fill('the new certificate cannot be served; the one before it is'));
  });

  it('lets in only clients with a certificate, where it asks for one', async () => {
    const port = await serve(load({ ca: certificateFile('authority') }));
    const client = { cert: pem('client'), key: pem('client-key') };
    expect((await getSecurely(port, client)).status).toBe(200);
    await expect(getSecurely(port)).rejects.toThrow();
  });

  it('cuts handshakes that are not finished in time, and those that are under way when it closes', async () => {
    const slow = connect(await serve(load(), 50), '127.0.0.1');
    await closed(slow);
    const server = new JsonServer(echo, { certificates: load() });
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const half = connect(port, '127.0.0.1');
    // A ClientHello that breaks off: the server has accepted and waits.
    await new Promise<void>((resolve) => half.write(Buffer.from('1603010200', 'hex'), () => resolve()));
    expect((await getSecurely(port)).status).toBe(200);
    await Promise.all([server.close(0), closed(half)]);
  });

  it('survives plain HTTP and garbage on its port', async () => {
    const port = await serve(load());
    for (const bytes of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\0'.repeat(5000), 'PRI * HTTP/2.0\r\n\r\n']) {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      await closed(socket);
    }
    expect((await getSecurely(port)).status).toBe(200);
  });
});

describe('a certificate that cannot be served is refused', () => {
  const path = (name: string) => join(folder, name);
  it.each([
    [
      'a file that is not there',
      { cert: 'nowhere.pem' },
      /nowhere\.pem cannot be read: there is no such file/,
    ],
    ['a key that is not there', { key: 'nowhere.pem' }, /the key .*nowhere\.pem cannot be read/],
    ['a folder', { cert: '.' }, /cannot be read: it is a folder/],
    ['a certificate that is none', { cert: 'garbage.pem' }, /garbage\.pem has no certificate in PEM/],
    ['a broken certificate', { cert: 'broken.pem' }, /broken\.pem has no certificate in PEM/],
    ['a key in the place of the certificate', { cert: 'key.pem' }, /key\.pem has no certificate in PEM/],
    ['a key that is none', { key: 'garbage.pem' }, /garbage\.pem has no private key in PEM/],
    ['another key', { key: 'other.pem' }, /other\.pem is not that of the certificate in .*cert\.pem/],
    ['an encrypted key', { key: 'encrypted.pem' }, /encrypted; decrypt it with: openssl pkey -in/],
    ['authorities that are none', { ca: 'garbage.pem' }, /garbage\.pem has no certificate in PEM/],
  ])('%s', (_what, of, message) => {
    writeFileSync(path('garbage.pem'), 'hello');
    writeFileSync(path('broken.pem'), '-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n');
    copyFileSync(certificateFile('renewed-key'), path('other.pem'));
    copyFileSync(certificateFile('encrypted-key'), path('encrypted.pem'));
    const places = Object.fromEntries(Object.entries(of).map(([what, name]) => [what, path(name)]));
    expect(() => load(places)).toThrow(TlsError);
    expect(() => load(places)).toThrow(message);
  });

  it('but one that has expired is served with a warning', () => {
    load({ cert: certificateFile('expired'), key: certificateFile('expired-key') });
    expect(told).toEqual(['the certificate has expired; clients will refuse it']);
  });
});
