import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whether a process has the connection that leaves from a port of this machine, by /proc. */
export function hasPort(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const connection = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[1]?.endsWith(local) === true);
  if (connection === undefined) return false;
  const wanted = `socket:[${connection[9]}]`;
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((handle) => linkOf(`${folder}/${handle}`) === wanted);
  } catch {
    // It has ended.
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
