import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { ContainerChannel, ContainerFrame } from '../../containers/protocol/index.js';
import { sourceContent, type ContainerRuntime } from '../../containers/runtime/index.js';
import { BundleCache, BundledStarter, FolderBundles, uploadBundle, type BundleStore } from './index.js';

type Request = Parameters<ContainerRuntime['start']>[0];

const SOURCE = { kind: 'kernelModel', path: builtInModelPath('digits-logistic') } as const;
const HASH = sourceContent(SOURCE)?.hash ?? '';
const REQUEST: Request = {
  model: 'm',
  version: '1',
  replica: '0',
  inputType: 'floats',
  container: { ...SOURCE, path: '/nowhere/here' },
  contentHash: HASH,
};

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'windjammer-starter-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** A starter, and what it started. */
function harness(store: BundleStore = new FolderBundles(join(folder, 'shared'))) {
  const started: Request[] = [];
  const closed: (string | undefined)[] = [];
  const complaints: string[] = [];
  let begin: () => void = () => undefined;
  const plain = (request: Request): ContainerChannel => {
    started.push(request);
    begin();
    return {
      send: () => undefined,
      open: (sink) => sink.onFrame({ kind: 'printed', text: 'there' }),
      close: (reason) => closed.push(reason),
    };
  };
  const cache = new BundleCache({ store, folder: join(folder, 'cache') });
  const starter = new BundledStarter(cache, plain, (message) => complaints.push(message));
  const next = () => new Promise<void>((resolve) => (begin = resolve));
  return { store, starter, started, closed, complaints, next };
}

const pathOf = (request: Request) => (request.container.kind === 'constant' ? '' : request.container.path);

describe('a starter that fetches files', () => {
  it('starts a version from what was put under its hash, wherever that was registered', async () => {
    const { store, starter, started, next } = harness();
    await uploadBundle(store, SOURCE, HASH);
    const begun = next();
    const channel = starter.start(REQUEST);
    const frames: ContainerFrame[] = [];
    channel.open({ onFrame: (frame) => frames.push(frame) });
    await begun;
    await Promise.resolve();
    expect(pathOf(started[0])).toContain(join(folder, 'cache', HASH));
    expect(sourceContent({ kind: 'kernelModel', path: pathOf(started[0]) })?.hash).toBe(HASH);
    expect(frames).toEqual([{ kind: 'printed', text: 'there' }]);
  });

  it('starts what nobody has put there from its path, and says nothing of it', async () => {
    const { starter, started, complaints, next } = harness();
    const begun = next();
    starter.start(REQUEST);
    await begun;
    expect(pathOf(started[0])).toBe('/nowhere/here');
    expect(complaints).toEqual([]);
  });

  it('starts from the path, and says so, where what is there is damaged or cannot be fetched', async () => {
    const { store, starter, started, complaints, next } = harness();
    const bytes = (async function* () {
      await Promise.resolve();
      yield Buffer.from('other');
    })();
    await store.put(HASH, { files: [{ name: 'manifest.json', size: 5 }] }, bytes);
    const begun = next();
    starter.start(REQUEST);
    await begun;
    expect(pathOf(started[0])).toBe('/nowhere/here');
    expect(complaints).toEqual(['a model’s bundle cannot be fetched; it is started from its path']);
  });

  it('starts nothing for a channel that is closed meanwhile, and what has no files at once', async () => {
    const { store, starter, started } = harness();
    await uploadBundle(store, SOURCE, HASH);
    starter.start(REQUEST).close('not wanted');
    starter.start({ ...REQUEST, container: { kind: 'constant', output: '0' } });
    expect(started).toHaveLength(1);
    await expect.poll(async () => (await store.list()).length).toBe(1);
    expect(started).toHaveLength(1);
  });
});
