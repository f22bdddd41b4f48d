import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { newKeyText } from '../access/index.js';
import { WebSocketClient, WindjammerClient } from '../client/index.js';
import { ServedProcess } from './servedProcess.js';

const root = packageRoot();
const certificate = (name: string) => join(root, 'services/http/tests/certificates', `${name}.pem`);
const ca = readFileSync(certificate('authority'), 'latin1');

/** The command line, as users run it: what it prints, or why it fails. */
async function windjammer(environment: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> {
  const entry = commandFile();
  const options = { env: { ...process.env, ...environment } };
  try {
    return (await promisify(execFile)(process.execPath, [entry, ...args], options)).stdout.trim();
  } catch (error) {
    return `FAILED ${(error as { readonly stderr: string }).stderr.trim()}`;
  }
}

describe('windjammer serve, with keys over TLS', () => {
  let folder: string;
  let data: string;
  let served: ServedProcess | undefined;
  let files: { readonly cert: string; readonly key: string };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-security-'));
    data = join(folder, 'data');
    files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    copyFileSync(certificate('server'), files.cert);
    copyFileSync(certificate('server-key'), files.key);
  });
  afterEach(async () => {
    await served?.end('SIGKILL');
    served = undefined;
    rmSync(folder, { recursive: true });
  });

  const tls = () => ['--tls-cert', files.cert, '--tls-key', files.key];
  const start = (...args: readonly string[]) =>
    ServedProcess.start(['--data-dir', data, '--no-defaults', ...tls(), ...args]);

  async function register(client: WindjammerClient): Promise<void> {
    const { management } = client;
    for (const name of ['one', 'two']) {
      const fields = { input_type: 'doubles', default_output: '-', latency_slo_micros: 60_000_000 } as const;
      await management.addApplication({ name, ...fields });
      await management.addModel({
        model_name: `model-${name}`,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
        output: '7',
      });
      await management.addLinks(name, [`model-${name}`]);
    }
  }

  function clientOf({ query, management }: ServedProcess, apiKey: string): WindjammerClient {
    const local = (url: string) => url.replace('127.0.0.1', 'localhost');
    return new WindjammerClient({ queryUrl: local(query), managementUrl: local(management), ca, apiKey });
  }

  it('lets in whoever has a key, from the first key that is made to its removal, through a restart', async () => {
    await expect(start('--require-keys')).rejects.toThrow(
      /none may administer: make one with windjammer key add/,
    );
    const admin = await windjammer({}, 'key', 'add', 'root', '--scope', 'admin', '--data-dir', data);
    expect(admin).toMatch(/^wj_[0-9a-f]{16}_[0-9a-f]{64}$/);
    served = await start('--require-keys');
    expect(served.query).toMatch(/^https:/);
    expect(served.management).toMatch(/^https:/);
    await register(clientOf(served, admin));
    const environment = { WINDJAMMER_API_KEY: admin, WINDJAMMER_CA: certificate('authority') };
    const place = ['--management-url', served.management];
    const limits = ['--scope', 'predict,feedback', '--application', 'one', '--days', '1'];
    const key = await windjammer(environment, 'key', 'add', 'mobile', ...limits, ...place);
    expect(await windjammer(environment, 'key', 'list', ...place)).toMatch(/mobile +predict feedback +one/);

    await served.end('SIGTERM');
    served = await start('--require-keys');
    const client = clientOf(served, key);
    expect(await client.predict('one', [1])).toMatchObject({ output: 7, isDefault: false });
    await expect(client.predict('two', [1])).rejects.toMatchObject({ code: 'outside_key', status: 403 });
    await expect(client.management.keys()).rejects.toMatchObject({ code: 'missing_scope' });
    const predict = ['predict', 'one', '--input', '[1]', '--url', served.query];
    expect(
      JSON.parse(await windjammer({ ...environment, WINDJAMMER_API_KEY: key }, ...predict)),
    ).toMatchObject({
      output: 7,
    });
    expect(await windjammer({ WINDJAMMER_API_KEY: key }, ...predict)).toMatch(
      /certificate .* is not trusted/,
    );
    expect(await windjammer({ WINDJAMMER_CA: certificate('authority') }, ...predict)).toMatch(
      /401 key_required/,
    );

    const socket = await WebSocketClient.connect(served.query.replace('127.0.0.1', 'localhost'), {
      ca,
      apiKey: key,
    });
    expect(await socket.predict('one', Float64Array.of(2))).toMatchObject({ output: 7 });
    const [{ id }] = (await clientOf(served, admin).management.keys()).filter(
      ({ name }) => name === 'mobile',
    );
    expect(
      await windjammer(environment, 'key', 'remove', id, '--management-url', served.management),
    ).toContain('removed');
    await expect(socket.predict('one', Float64Array.of(3))).rejects.toThrow(/4401/);
    await expect(client.predict('one', [1])).rejects.toMatchObject({ code: 'invalid_key', status: 401 });

    // Nothing of a key stands in what the server has written.
    const written = readdirSync(join(data, 'store')).map((name) =>
      readFileSync(join(data, 'store', name), 'latin1'),
    );
    expect(written.join('')).toContain(id);
    for (const text of [admin, key]) {
      expect(served.output + served.errors + written.join('')).not.toContain(text.slice(-64));
    }
  });

  it('takes an admin key from a file or the environment, and keeps it nowhere', async () => {
    const key = newKeyText();
    writeFileSync(join(folder, 'admin'), `${key}\n`);
    served = await start('--admin-key-file', join(folder, 'admin'));
    expect(await clientOf(served, key).management.keys()).toHaveLength(1);
    await expect(clientOf(served, newKeyText()).management.keys()).rejects.toMatchObject({
      code: 'invalid_key',
    });
    await served.end('SIGTERM');
    served = await ServedProcess.start(['--ephemeral', '--no-defaults', ...tls()], {
      WINDJAMMER_ADMIN_KEY: key,
    });
    expect(await clientOf(served, key).management.keys()).toHaveLength(1);
    await served.end('SIGTERM');
    await expect(start('--require-keys')).rejects.toThrow(/none may administer/);
    await expect(
      ServedProcess.start(['--ephemeral', ...tls()], { WINDJAMMER_ADMIN_KEY: ' ' }),
    ).rejects.toThrow(/the admin key is no key/);
    served = undefined;
  });

  it('shows a renewed certificate after SIGHUP, on the same process, and keeps open connections', async () => {
    served = await start();
    const port = Number(new URL(served.query).port);
    const open = () =>
      new Promise<TLSSocket>((resolve, reject) => {
        const socket = connect({ port, host: 'localhost', ca }, () => resolve(socket));
        socket.once('error', reject);
      });
    const before = await open();
    copyFileSync(certificate('renewed'), files.cert);
    copyFileSync(certificate('renewed-key'), files.key);
    served.signal('SIGHUP');
    await expect
      .poll(
        async () => {
          const socket = await open();
          const { CN } = socket.getPeerCertificate().subject;
          socket.destroy();
          return CN;
        },
        { timeout: 20_000 },
      )
      .toBe('Windjammer test renewed');
    const answer = new Promise<string>((resolve) =>
      before.once('data', (part: Buffer) => resolve(part.toString())),
    );
    before.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    before.destroy();
    expect(await served.end('SIGTERM')).toBe(0);
    served = undefined;
  });

  it('says what is wrong with a certificate before it serves', async () => {
    const other = ['--tls-cert', files.cert, '--tls-key', certificate('renewed-key')];
    await expect(ServedProcess.start(['--ephemeral', ...other])).rejects.toThrow(
      /ended with 1: windjammer: the key in .*renewed-key\.pem is not that of the certificate in .*cert\.pem/,
    );
    await expect(ServedProcess.start(['--ephemeral', '--tls-cert', files.cert])).rejects.toThrow(
      /--tls-cert and --tls-key go together/,
    );
  });
});
