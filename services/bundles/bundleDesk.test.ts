import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentSum } from '../../containers/content/index.js';
import { builtInModelPath } from '../../containers/models/index.js';
import { sourceContent } from '../../containers/runtime/index.js';
import { BundleDesk, outgoingBundle } from './index.js';

let folder: string;
let desk: BundleDesk;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-desk-'));
  desk = deskAt(join(folder, 'data'));
});
afterEach(async () => {
  await desk.close();
  rmSync(folder, { recursive: true });
});

const deskAt = (dataDirectory: string | undefined) =>
  new BundleDesk({ dataDirectory, models: () => [], complain: () => undefined });

/** @param text of each file @param names by which they are hashed, where those are others than those that are sent */
function bundleOf(texts: Readonly<Record<string, string>>, names = Object.keys(texts)) {
  const files = Object.entries(texts).map(([name, text]) => ({ name, size: Buffer.byteLength(text) }));
  const sum = new ContentSum();
  for (const [at, text] of Object.values(texts).entries()) {
    sum.file(names[at], Buffer.byteLength(text));
    sum.bytes(Buffer.from(text));
  }
  return { hash: sum.hash(), line: JSON.stringify({ files }), bytes: Object.values(texts).join('') };
}

/** Split as a network may. */
async function* sent(text: string, piece = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) {
    await Promise.resolve();
    yield bytes.subarray(at, at + piece);
  }
}

const left = () => {
  try {
    return readdirSync(join(folder, 'data', 'uploads'));
  } catch {
    return [];
  }
};

describe('files of a model that a client sends', () => {
  it('lie where their names say, from the folder of the first', async () => {
    const { hash, line, bytes } = bundleOf(
      { 'own/model.mjs': 'one', 'shared/part.mjs': 'two', 'own/empty': '' },
      ['model.mjs', '../shared/part.mjs', 'empty'],
    );
    expect(await desk.has(hash)).toBe(false);
    expect(await desk.receive(hash, sent(`${line}\n${bytes}`))).toEqual({ files: 3, bytes: 6 });
    expect(await desk.has(hash)).toBe(true);
    const held = await desk.hold(hash);
    expect(held.entry).toBe('model.mjs');
    expect(readFileSync(join(held.folder, 'model.mjs'), 'utf8')).toBe('one');
    expect(readFileSync(join(held.folder, '../shared/part.mjs'), 'utf8')).toBe('two');
    expect(readFileSync(join(held.folder, 'empty'), 'utf8')).toBe('');
    held.release();
  });

  it('are those that leave another machine: a kernel model, and a module that imports from above', async () => {
    mkdirSync(join(folder, 'src/models/own'), { recursive: true });
    mkdirSync(join(folder, 'src/common'));
    writeFileSync(join(folder, 'src/common/part.mjs'), 'export const x = 1;');
    const path = join(folder, 'src/models/own/model.mjs');
    writeFileSync(path, "import { x } from '../../common/part.mjs';");
    mkdirSync(join(folder, 'src/bin'));
    writeFileSync(join(folder, 'src/bin/run.sh'), 'cat');
    for (const source of [
      { kind: 'exec', path: join(folder, 'src'), command: 'sh bin/run.sh' },
      { kind: 'kernelModel', path: builtInModelPath('digits-logistic') },
      { kind: 'process', path },
    ] as const) {
      const outgoing = outgoingBundle(source);
      if (outgoing === undefined) throw new Error('it has no files');
      await desk.receive(outgoing.hash, outgoing.body());
      const held = await desk.hold(outgoing.hash);
      const there = source.kind === 'process' ? join(held.folder, held.entry) : held.folder;
      expect(sourceContent({ ...source, path: there })?.hash).toBe(outgoing.hash);
      held.release();
    }
  });

  const { hash, line, bytes } = bundleOf({ 'model.mjs': 'text' });
  const listing = (...names: readonly string[]) =>
    JSON.stringify({ files: names.map((name) => ({ name, size: 0 })) });
  it.each([
    ['with another hash', `${line}\ntexx`, 'its content is'],
    ['cut short', `${line}\ntex`, 'it ends within model.mjs'],
    ['with more behind it', `${line}\n${bytes}s`, 'bytes follow'],
    ['without a line', 'no end', 'ends within its first line'],
    ['of nothing', '', 'ends within its first line'],
    ['with a line that is no JSON', 'files\n', 'is no JSON'],
    ['with a line that is no list', '{"files":[]}\n', 'no list of files: files'],
    ['with a file of no size', '{"files":[{"name":"a","size":-1}]}\n', 'no list of files: files.0.size'],
    ['with a name that leads out', `${listing('model.mjs', '../../etc/passwd')}\n`, "no '..'"],
    ['with a name that leads out in the midst', `${listing('a/../../b')}\n`, "no '..'"],
    ['with a name from the root', `${listing('/etc/passwd')}\n`, 'without a slash'],
    ['with an empty name', `${listing('')}\n`, '1 to 1024 characters'],
    ['with an empty part', `${listing('a//b')}\n`, 'no empty parts'],
    ['with a zero byte', `${listing('a\0b')}\n`, 'control characters'],
    ['with a backslash', `${listing('..\\b')}\n`, 'backslashes'],
    ['too deep', `${listing(`${'d/'.repeat(16)}m`)}\n`, 'at most 15 folders'],
    ['with one name twice', `${listing('a', 'a')}\n`, 'two files are called'],
    ['with a file that is a folder', `${listing('a', 'a/b')}\n`, 'is a file and a folder'],
  ])('are refused %s, and nothing of them is kept', async (_what, text, reason) => {
    await expect(desk.receive(hash, sent(text))).rejects.toMatchObject({
      code: 'invalid_bundle',
      message: expect.stringContaining(reason) as string,
    });
    expect(left()).toEqual([]);
    await expect(desk.hold(hash)).rejects.toMatchObject({ code: 'unknown_bundle', field: 'content_hash' });
  });

  it('are refused with a list that is too long, or files that are too large', async () => {
    await expect(desk.receive(hash, sent('x'.repeat(5 << 20), 1 << 16))).rejects.toThrow('more than 4 MiB');
    const large = JSON.stringify({ files: [{ name: 'a', size: 513 * 2 ** 20 }] });
    await expect(desk.receive(hash, sent(`${large}\n`))).rejects.toMatchObject({ code: 'body_too_large' });
    await expect(desk.receive(hash, sent(`${line}\n${bytes}`), 2 ** 60)).rejects.toMatchObject({
      code: 'storage_full',
    });
    expect(left()).toEqual([]);
  });

  it('leave nothing where the client goes amid them, or the server died over them', async () => {
    const broken = async function* () {
      yield* sent(`${line}\nte`);
      throw new Error('gone');
    };
    await expect(desk.receive(hash, broken())).rejects.toThrow('gone');
    expect(left()).toEqual([]);
    writeFileSync(join(folder, 'data/uploads/.new-ab.bytes'), 'half');
    mkdirSync(join(folder, 'data/uploads/unpacked/.new-cd'), { recursive: true });
    await desk.clean();
    expect(left()).toEqual(['unpacked']);
    expect(readdirSync(join(folder, 'data/uploads/unpacked'))).toEqual([]);
  });

  it('may come from many at once, and from more than it takes not', async () => {
    const all = Array.from({ length: 16 }, () => desk.receive(hash, sent(`${line}\n${bytes}`, 1)));
    await expect(desk.receive(hash, sent(line))).rejects.toMatchObject({ code: 'too_many_uploads' });
    await Promise.all(all);
    expect(left().sort()).toEqual([`${hash}.bytes`, `${hash}.json`]);
    await desk.receive(hash, sent(`${line}\n${bytes}`));
    (await desk.hold(hash)).release();
  });

  it('go with a server that keeps nothing', async () => {
    const passing = deskAt(undefined);
    await passing.receive(hash, sent(`${line}\n${bytes}`));
    const held = await passing.hold(hash);
    expect(readFileSync(join(held.folder, held.entry), 'utf8')).toBe('text');
    await passing.close();
    expect(() => readFileSync(join(held.folder, held.entry))).toThrow('ENOENT');
  });
});
