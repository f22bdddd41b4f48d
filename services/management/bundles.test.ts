import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { outgoingBundle, type OutgoingBundle } from '../bundles/index.js';
import { WindjammerClient } from '../client/index.js';
import { eachWithServer, model, verbsOf } from './tests/harness.js';

function digits(): OutgoingBundle {
  const files = outgoingBundle({ kind: 'kernelModel', path: builtInModelPath('digits-logistic') });
  if (files === undefined) throw new Error('it has no files');
  return files;
}

const kernelModel = {
  model_name: 'digits',
  model_version: '1',
  input_type: 'floats',
  container_name: 'windjammer/kernel-model',
} as const;

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

describe('add_bundle and get_bundle', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);
  const send = async (
    query: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const response = await fetch(`${harness().url}/admin/add_bundle${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', ...headers },
      body: typeof body === 'string' ? body : Uint8Array.from(body),
    });
    return { status: response.status, json: await response.json() };
  };

  it('bring a model whose files the server does not see', async () => {
    const { management } = new WindjammerClient({ managementUrl: harness().url });
    const files = digits();
    const { hash } = files;
    expect(await management.hasBundle(hash)).toBe(false);
    await refused('add_model', { ...kernelModel, content_hash: hash }, 'unknown_bundle', 'content_hash');
    await management.addBundle(hash, files.body());
    expect(await management.hasBundle(hash)).toBe(true);
    await done('add_model', { ...kernelModel, content_hash: hash });
    const { json } = await post('get_model', { model_name: 'digits', model_version: '1' });
    expect(json).toMatchObject({ content_hash: hash, input_length: 784 });
  });

  it('hold a path to a hash', async () => {
    const { hash } = digits();
    const path = { ...kernelModel, model_data_path: builtInModelPath('digits-logistic') };
    const other = { ...path, content_hash: 'a'.repeat(64) };
    await refused('add_model', other, 'unknown_bundle', 'content_hash');
    const nowhere = { ...path, model_data_path: '/nowhere', content_hash: hash };
    await refused('add_model', nowhere, 'unknown_bundle', 'content_hash');
    await done('add_model', { ...path, content_hash: hash });
  });

  it('leave out what is none of the model', async () => {
    const name = 'model.mjs';
    const text = 'export default { predictOne: () => 1 };';
    const line = JSON.stringify({
      files: [
        { name, size: text.length },
        { name: 'README.md', size: 3 },
      ],
    });
    const hash = await hashOf([name, text], ['README.md', 'abc']);
    expect(await send(`?content_hash=${hash}`, `${line}\n${text}abc`)).toEqual({
      status: 200,
      json: { content_hash: hash, is_there: true },
    });
    const { text: answer } = await post('add_model', {
      ...kernelModel,
      container_name: 'windjammer/process',
      content_hash: hash,
    });
    expect(answer).toContain('Files of the bundle that the model does not name are not kept.');
    const { json } = await post('get_model', { model_name: 'digits', model_version: '1' });
    expect(json).toMatchObject({ content_hash: await hashOf([name, text]) });
  });

  it('are refused by what is wrong', async () => {
    const files = digits();
    const { hash } = files;
    const text = await textOf(files.body());
    const query = `?content_hash=${hash}`;
    const code = (code: string, field?: string) => ({
      error: expect.objectContaining({ code, ...(field === undefined ? {} : { field }) }) as unknown,
    });
    expect(await send('', text)).toEqual({ status: 400, json: code('missing_field', 'content_hash') });
    for (const wrong of ['?content_hash=abc', '?content_hash=../../x', `?content_hash=${'A'.repeat(64)}`])
      expect(await send(wrong, text)).toEqual({ status: 400, json: code('invalid_value', 'content_hash') });
    expect(await send(`${query}&more=1`, text)).toEqual({ status: 400, json: code('unknown_field', 'more') });
    for (const [headers, field] of [
      [{ 'content-type': 'application/json' }, 'Content-Type'],
      [{ 'content-encoding': 'gzip' }, 'Content-Encoding'],
    ] as const) {
      expect(await send(query, text, headers as Record<string, string>)).toEqual({
        status: 415,
        json: code('unsupported_media_type', field),
      });
    }
    expect(await send(query, text.subarray(1))).toEqual({ status: 400, json: code('invalid_bundle') });
    expect((await fetch(`${harness().url}/admin/add_bundle`)).status).toBe(405);
    await refused('get_bundle', { content_hash: 'x' }, 'invalid_value', 'content_hash');
    const constant = { ...model, content_hash: hash };
    await refused('add_model', constant, 'conflicting_fields', 'content_hash');
    const external = { ...model, output: undefined, container_name: 'other', content_hash: hash };
    await refused('add_model', external, 'conflicting_fields', 'content_hash');
    // The server goes on, and takes it.
    expect((await send(query, text)).status).toBe(200);
    // A model that is none: no path of the server's is told.
    const broken = { ...kernelModel, input_type: 'doubles', content_hash: hash };
    const { text: reason } = await post('add_model', broken);
    expect(reason).toContain('invalid_model');
    expect(reason).not.toContain(tmpdir());
  });

  it('keep nothing of a client that leaves amid its bundle', async () => {
    const files = digits();
    const { hash } = files;
    const text = await textOf(files.body());
    const { port, hostname } = new URL(harness().url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `POST /admin/add_bundle?content_hash=${hash} HTTP/1.1\r\nHost: x\r\n` +
        `Content-Type: application/octet-stream\r\nContent-Length: ${text.length}\r\n\r\n`,
    );
    socket.write(text.subarray(0, text.length - 1));
    const unfinished = () =>
      readdirSync(tmpdir())
        .filter((name) => name.startsWith('windjammer-uploads-'))
        .flatMap((name) => namesIn(join(tmpdir(), name)))
        .filter((name) => name.startsWith('.new-'));
    await expect.poll(unfinished).not.toEqual([]);
    socket.destroy();
    await expect.poll(unfinished).toEqual([]);
    expect((await post('get_bundle', { content_hash: hash })).json).toMatchObject({ is_there: false });
  });
});

async function hashOf(...files: readonly (readonly [name: string, text: string])[]): Promise<string> {
  const { ContentSum } = await import('../../containers/content/index.js');
  const sum = new ContentSum();
  for (const [name, text] of files) {
    sum.file(name, text.length);
    sum.bytes(Buffer.from(text));
  }
  return sum.hash();
}

/** Other tests' folders may go meanwhile. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
