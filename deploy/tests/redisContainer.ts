import { existsSync, mkdirSync } from 'node:fs';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { Container } from './container.js';
import type { ContainerNetwork } from './containerNetwork.js';

/** A Redis that asks for a password, on the port that everybody expects. @param name whose network it has */
export async function startRedis(
  network: ContainerNetwork,
  name: string,
  root: string,
  password: string,
): Promise<Container> {
  installDebianPackage('redis-server', () => existsSync('/usr/bin/redis-server'));
  mkdirSync(root, { recursive: true });
  const words = ['--bind', '0.0.0.0', '--requirepass', password, '--maxmemory-policy', 'noeviction'];
  const redis = new Container({
    ...{ name, root, network, tmpfs: ['/tmp'] },
    command: ['redis-server', ...words, '--appendonly', 'yes', '--dir', '/tmp'],
  });
  await redis.said('Ready to accept connections');
  return redis;
}
