import { spawnSync } from 'node:child_process';

/** Whether this machine lets us give a process mounts and a network of its own: some sandboxes do not. */
export const MAY_ISOLATE =
  spawnSync('unshare', ['--mount', '--net', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
