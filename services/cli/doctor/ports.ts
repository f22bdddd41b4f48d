import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { reasonOf } from '../../../simulator/text/index.js';
import { fail, ok, type Finding } from './finding.js';

const LONGEST_DIAL_MS = 3000;

/** Where a server is to listen, and the option that says so. */
export interface Listening {
  readonly option: string;
  readonly host: string;
  readonly port: number;
}

/** Whether one server could listen at all of these at once, and otherwise who does. */
export async function ports(wanted: readonly Listening[]): Promise<readonly Finding[]> {
  const held: { readonly option: string; readonly port: number; readonly server: Server }[] = [];
  const findings: Finding[] = [];
  try {
    for (const { option, host, port } of wanted) {
      const server = createServer();
      try {
        server.listen({ host, port, exclusive: true });
        await once(server, 'listening');
        held.push({ option, port, server });
        const where = port === 0 ? `any free port of ${host}` : `${host}:${port} is free`;
        findings.push(ok(`port ${port}`, where));
      } catch (error) {
        const other = held.find((one) => one.port === port)?.option;
        findings.push(refusal({ option, host, port }, error as NodeJS.ErrnoException, other));
      }
    }
  } finally {
    for (const { server } of held) server.close();
  }
  return findings;
}

/** @param other the option of the same server that has the port already */
function refusal(
  { option, host, port }: Listening,
  error: NodeJS.ErrnoException,
  other: string | undefined,
): Finding {
  const where = `${host}:${port}`;
  const check = `port ${port}`;
  if (error.code === 'EADDRINUSE') {
    if (other !== undefined)
      return fail(check, `${where} is what ${other} takes, too`, `choose another with ${option}`);
    return fail(
      check,
      `${where} is in use by ${holderOf(port)}`,
      `stop it, or choose another with ${option}`,
    );
  }
  if (error.code === 'EACCES') {
    const fix = `choose one above 1023 with ${option}, or let the process have CAP_NET_BIND_SERVICE`;
    return fail(check, `${where}: this user may not listen there`, fix);
  }
  const fix = `name an address of this machine with ${option.replace('port', 'host')}`;
  return fail(check, `${where}: ${reasonOf(error)}`, fix);
}

/** Whether somebody listens there. */
export async function reached(check: string, host: string, number: number, fix: string): Promise<Finding> {
  const where = `${host}:${number}`;
  const socket = connect({ host, port: number });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LONGEST_DIAL_MS) });
    return ok(check, `${where} takes connections`);
  } catch (error) {
    const reason = socket.connecting ? `nothing was heard for ${LONGEST_DIAL_MS / 1000} s` : reasonOf(error);
    return fail(check, `${where} is not reached: ${reason}`, fix);
  } finally {
    socket.destroy();
  }
}

/** Who listens on a port, as far as this user may see. */
function holderOf(number: number): string {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeningSockets(table, number)));
  try {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid) || !holdsOne(pid, sockets)) continue;
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
      // Its first words say what it is, and what follows may have secrets.
      return `process ${pid} (${words.split(' ').slice(0, 3).join(' ')})`;
    }
  } catch {
    // No /proc, or none that may be read.
  }
  return 'another process';
}

/** Inodes. */
function listeningSockets(table: string, number: number): string[] {
  try {
    const hex = number.toString(16).toUpperCase().padStart(4, '0');
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(`:${hex}`) && state === '0A')
      .map((columns) => columns[9]);
  } catch {
    return [];
  }
}

function holdsOne(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode !== undefined && sockets.has(inode);
    });
  } catch {
    // Another user's, or gone.
    return false;
  }
}
