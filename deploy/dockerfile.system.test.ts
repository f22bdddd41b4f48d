import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindjammerClient } from '../services/client/index.js';
import { Container } from './tests/container.js';
import { ContainerNetwork } from './tests/containerNetwork.js';
import { buildImage, userOf, type Image } from './tests/dockerImage.js';
import { MAY_ISOLATE } from './tests/mayIsolate.js';

const NAME = 'frontend';

describe.runIf(MAY_ISOLATE)('the image of deploy/Dockerfile, laid out and started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-image-'));
  const data = join(folder, 'volume');
  let network: ContainerNetwork;
  let image: Image;

  beforeAll(async () => {
    network = new ContainerNetwork();
    image = await buildImage(folder);
    mkdirSync(data);
  }, 600_000);
  afterAll(() => {
    network.close();
    rmSync(folder, { recursive: true });
  });

  const started = (command = image.command, environment = {}): Container => {
    const [volume] = image.volumes;
    const { uid, gid } = statSync(join(image.root, volume));
    chownSync(data, uid, gid);
    return new Container({
      name: NAME,
      root: image.root,
      mounts: [{ path: volume, from: data, isWritable: true }],
      tmpfs: ['/tmp'],
      environment: { ...image.environment, ...environment },
      workingDirectory: image.workingDirectory,
      user: userOf(image.user),
      network,
      command: [...image.entrypoint, ...command],
    });
  };

  const healthy = async (container: Container, check = image.healthCheck): Promise<void> => {
    await expect
      .poll(
        async () => {
          if (container.hasExited) throw new Error(container.errors);
          return (await container.exec(check)).code;
        },
        { timeout: 60_000 },
      )
      .toBe(0);
  };

  it('serves on a root that is read-only, as a user without rights, and stops in order at SIGTERM', async () => {
    const container = started();
    await healthy(container);
    const client = new WindjammerClient({ queryUrl: `http://${network.address(NAME)}:1337` });
    await expect
      .poll(() => client.predict('digits', new Float32Array(784)), { timeout: 60_000 })
      .toMatchObject({ isDefault: false });
    const listed = await container.exec(['windjammer', 'app', 'list']);
    expect(listed).toMatchObject({ code: 0, text: expect.stringContaining('digits') as string });
    const { code, text } = await container.exec(['sh', '-c', 'id -u; touch /app/x /etc/x /x']);
    expect(code).not.toBe(0);
    expect(text).toMatch(/^65532\n/);
    expect(text.match(/Read-only file system/g)).toHaveLength(3);
    expect(image.stopSignal).toBe('SIGTERM');
    expect(await container.end('SIGTERM')).toBe(0);
    expect(container.output).toContain('Stopped.');
    expect(container.errors).not.toMatch(/EACCES|EPERM|EROFS|ENOENT/);
    expect(readdirSync(data)).toContain('lock');
  });

  it('is a node when it is told so', async () => {
    const container = started(['node', '--name', 'n1', '--listen', '127.0.0.1:4101', '--data-dir', '/data']);
    const [program, script] = image.healthCheck;
    await healthy(container, [program, script, 'tcp://127.0.0.1:4101']);
    expect(await container.end('SIGTERM')).toBe(0);
    expect(container.errors).toBe('');
  });
});
