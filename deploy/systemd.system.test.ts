import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, packPackage } from '../services/tests/packedPackage.js';
import { installDebianPackage } from '../simulator/files/tests/debianPackage.js';
import { Container, type Mount } from './tests/container.js';
import { ContainerNetwork } from './tests/containerNetwork.js';
import { startRedis } from './tests/redisContainer.js';
import { SystemdUnit, UNITS } from './tests/systemdUnit.js';
import { MAY_ISOLATE } from './tests/mayIsolate.js';

const PROGRAM = '/opt/windjammer/node_modules/.bin/windjammer';
/** All units are on one machine. */
const MACHINE = 'machine';
/** Of 100, as `systemd-analyze security` counts; a unit that says nothing of itself has 96. */
const MOST_EXPOSURE = 25;

const files = readdirSync(UNITS).filter((file) => file.endsWith('.service'));

describe.runIf(MAY_ISOLATE)('deploy/systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-systemd-'));
  const installed: Mount = { path: '/opt/windjammer', from: join(folder, 'opt'), isWritable: false };
  let network: ContainerNetwork;
  const running: Container[] = [];

  beforeAll(() => {
    mkdirSync(installed.from);
    mkdirSync(join(folder, 'root'));
    network = new ContainerNetwork();
    installPackage(packPackage(folder), installed.from);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(running.map((container) => container.end('SIGTERM')));
    network.close();
    rmSync(folder, { recursive: true });
  });

  const analyze = (...words: readonly string[]): Promise<string> => {
    installDebianPackage('systemd', () => existsSync('/usr/bin/systemd-analyze'));
    return Container.run({
      name: 'analyze',
      root: join(folder, 'root'),
      isRootWritable: true,
      mounts: [installed, { path: '/etc/systemd/system', from: UNITS, isWritable: false }],
      command: ['systemd-analyze', ...words],
    });
  };

  it.each(files)('%s is what systemd understands, and exposes little', async (file) => {
    expect(await analyze('verify', `/etc/systemd/system/${file}`)).toBe('');
    const threshold = `--threshold=${MOST_EXPOSURE}`;
    expect(await analyze('security', '--offline=yes', threshold, `/etc/systemd/system/${file}`)).toContain(
      'Overall exposure level',
    );
  });

  it.each(files)('%s leaves a drain its time, and tells the server alone of it', (file) => {
    const unit = new SystemdUnit(file.replace('@', '@n1'));
    expect(Number(unit.one('TimeoutStopSec'))).toBeGreaterThan(5 + 10);
    expect(unit.one('KillMode')).toBe('mixed');
  });

  it('starts a frontend and a node of a cluster, whose secrets are credentials', async () => {
    const password = randomBytes(16).toString('hex');
    const etc = {
      '/etc/windjammer/redis-password': `${password}\n`,
      '/etc/windjammer/cluster-key': `${randomBytes(32).toString('hex')}\n`,
      '/etc/windjammer/windjammer.env':
        '# Of the frontend.\nWINDJAMMER_STORE=redis://127.0.0.1\nWINDJAMMER_ONLY_NODES=true\n',
      '/etc/windjammer/node.env': 'WINDJAMMER_JOIN=redis://127.0.0.1\nWINDJAMMER_GPUS=h200\n',
    };
    running.push(await startRedis(network, MACHINE, join(folder, 'redis'), password));
    const started = async (unit: SystemdUnit): Promise<Container> => {
      const spec = unit.spec(folder, etc);
      const mounts = [...(spec.mounts ?? []), installed];
      const container = new Container({ ...spec, mounts, name: MACHINE, network });
      running.push(container);
      await container.said('Ctrl-C');
      return container;
    };
    const node = await started(new SystemdUnit('windjammer-node@n1.service', ['cluster.conf']));
    const frontend = await started(new SystemdUnit('windjammer.service', ['cluster.conf']));
    const asked = () => frontend.exec([PROGRAM, 'predict', 'noop', '--input', '[1]']);
    await expect.poll(async () => (await asked()).text, { timeout: 60_000 }).toContain('"default":false');
    for (const container of [frontend, node]) {
      running.splice(running.indexOf(container), 1);
      expect(await container.end('SIGTERM')).toBe(0);
      expect(container.output).toContain('Stopped.');
      expect(container.errors).not.toMatch(/EACCES|EPERM|EROFS|ENOENT/);
    }
  });
});
