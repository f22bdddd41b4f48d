import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedStore } from '../store/index.js';
import { failureText } from './commandError.js';
import { windjammerProgram } from './program.js';
import { accessSettings, tlsSettings } from './serveSecurity.js';

const NONE = { maxConnections: 1, maxWebsockets: 1 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-key-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Runs a command line; what it printed on standard output, or the line that it fails with. */
async function run(...args: readonly string[]): Promise<string> {
  let output = '';
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    output += String(chunk);
    return true;
  });
  try {
    await (await windjammerProgram(args)).parseAsync(args, { from: 'user' });
  } catch (thrown) {
    return `FAILED ${failureText(thrown)}`;
  } finally {
    vi.restoreAllMocks();
  }
  return output;
}

describe('windjammer key, on a data directory', () => {
  it('makes the first key, lists it without its secret, and removes even the last', async () => {
    const place = ['--data-dir', folder];
    const text = await run('key', 'add', 'root', '--scope', 'admin', ...place);
    expect(text).toMatch(/^wj_[0-9a-f]{16}_[0-9a-f]{64}\n$/);
    await run(
      'key',
      'add',
      'app',
      '--scope',
      'predict,feedback',
      '--model',
      'm',
      'n',
      '--days',
      '1',
      ...place,
    );
    const listed = await run('key', 'list', ...place);
    expect(listed).toMatch(/^[0-9a-f]{16} +root +admin +- +\S+ +never$/m);
    expect(listed).toMatch(/ app +predict feedback +model m, model n +\S+ +\S+Z$/m);
    expect(listed).not.toContain(text.trim().slice(-64));
    const id = text.slice(3, 19);
    expect(await run('key', 'remove', id, ...place)).toBe(`Success! Key '${id}' is removed.\n`);
    expect(await run('key', 'remove', id, ...place)).toBe('FAILED no key has this id');
    expect(await run('key', 'list', ...place)).not.toContain('root');
  });

  it('says that a server uses the directory, and what is wrong with what it was given', async () => {
    const store = new EmbeddedStore(folder);
    expect(await run('key', 'list', '--data-dir', folder)).toMatch(
      /^FAILED the data directory .* is in use by process/,
    );
    await new Promise<void>((resolve) => store.close(resolve));
    const add = (...more: readonly string[]) => run('key', 'add', 'x', '--data-dir', folder, ...more);
    expect(await add('--scope', 'root')).toBe(
      'FAILED --scope is one of predict, feedback, metrics, admin, not root',
    );
    expect(await add('--scope', 'admin', '--application', 'a')).toMatch(
      /^FAILED applications limits predict/,
    );
    expect(await add('--scope', 'predict', '--application', 'a/b')).toMatch(
      /^FAILED applications\[0\] must have/,
    );
    expect(await run('key', 'list', '--data-dir', folder, '--json')).toBe('[]\n');
  });

  it('generates keys that differ', async () => {
    const [one, other] = [await run('key', 'generate'), await run('key', 'generate')];
    expect(one).toMatch(/^wj_[0-9a-f_]+\n$/);
    expect(one).not.toBe(other);
  });
});

describe('security options', () => {
  it('of clients: a file that is not there, half of a certificate, a key that is none', async () => {
    const list = (...more: readonly string[]) =>
      run('key', 'list', '--management-url', 'https://127.0.0.1:1', ...more);
    expect(await list('--ca', join(folder, 'none'))).toMatch(/^FAILED --ca: ENOENT/);
    expect(await list('--client-cert', 'x')).toBe('FAILED --client-cert and --client-key go together');
    expect(await list('--api-key', 'a b')).toBe(
      'FAILED the API key is empty, or has white space or other characters that no key has',
    );
    expect(await list('--ca', '')).toMatch(/^FAILED --ca is empty/);
    expect(await list('--api-key', '')).toMatch(/^FAILED the API key is empty/);
  });

  it('of serve: an admin key from a file before the environment, and nothing that is half there', () => {
    const file = join(folder, 'admin');
    writeFileSync(file, 'from-file\n');
    const environment = { WINDJAMMER_ADMIN_KEY: 'from-environment' };
    expect(accessSettings(NONE, {})).toEqual({ required: false, adminKey: undefined });
    expect(accessSettings({ ...NONE, requireKeys: true }, environment)).toEqual({
      required: true,
      adminKey: 'from-environment',
    });
    expect(accessSettings({ ...NONE, adminKeyFile: file }, environment).adminKey).toBe('from-file');
    expect(() => accessSettings({ ...NONE, adminKeyFile: folder }, {})).toThrow(/^--admin-key-file: EISDIR/);
    expect(tlsSettings(NONE)).toEqual({ query: undefined, management: undefined });
    expect(tlsSettings({ ...NONE, managementTlsCert: 'c', managementTlsKey: 'k' })).toEqual({
      query: undefined,
      management: { cert: 'c', key: 'k' },
    });
    expect(() => tlsSettings({ ...NONE, tlsKey: 'k' })).toThrow('--tls-cert and --tls-key go together');
    expect(() => tlsSettings({ ...NONE, managementTlsCa: 'a' })).toThrow(/--management-tls-ca needs both/);
  });
});
