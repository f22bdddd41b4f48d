import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WindjammerClient } from '../client/index.js';
import { ServedProcess } from './servedProcess.js';

/** A data directory as an earlier commit left it, and what that server said of it: made by `make.sh` there. */
const EARLIER = 'services/tests/earlierData';

interface Said {
  readonly key: string;
  readonly applications: readonly object[];
  readonly models: readonly object[];
  /** With the share of each model. */
  readonly state: object;
  readonly context: object;
  readonly keys: readonly object[];
}

let folder: string;
let server: ServedProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-upgrade-'));
  cpSync(join(EARLIER, 'data'), join(folder, 'data'), { recursive: true });
});
afterEach(async () => {
  if (server?.hasExited === false) await server.end('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('finds applications, models, what was learned and keys in the data directory of an earlier commit', async () => {
  const said = JSON.parse(readFileSync(join(EARLIER, 'said.json'), 'utf8')) as Said;
  const args = ['--data-dir', join(folder, 'data'), '--no-defaults', '--require-keys'];
  for (let start = 0; start < 2; start++) {
    server = await ServedProcess.start(args);
    const { management } = new WindjammerClient({ managementUrl: server.management, apiKey: said.key });
    expect(await management.applications()).toMatchObject(said.applications);
    expect(await management.models()).toMatchObject(said.models);
    expect(await management.state('app')).toMatchObject(said.state);
    expect(await management.state('app', 'ada')).toMatchObject(said.context);
    expect(await management.keys()).toEqual(said.keys);
    // It goes on from there: parameters change in what was learned.
    const before = await management.exportState('app');
    await management.setApplication({ name: 'app', policy: { parameters: { eta: 0.2 } } });
    expect(await management.exportState('app')).toEqual({
      ...before,
      state: { ...(before.state as object), eta: 0.2 },
    });
    await management.setApplication({ name: 'app', policy: { parameters: {} } });
    expect(await server.end('SIGTERM')).toBe(0);
  }
});
