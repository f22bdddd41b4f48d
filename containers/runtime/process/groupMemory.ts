import { existsSync, readdirSync, readFileSync } from 'node:fs';

const MIB_KIB = 1024;

/** Why nobody can say here what a group of processes takes; undefined where that can be told. */
export function memoryGuardRefusal(): string | undefined {
  if (existsSync('/proc/self/smaps_rollup')) return undefined;
  return 'memory_mib: what a model in Python and a program take is read in /proc, which this system does not have; leave it out';
}

/**
 * Resident memory in MiB of all processes of a group but one. Pages that several of them share are counted once where it matters.
 * @param limitMiB what is asked: less than that may be told as more than it is, up to the limit
 */
export function groupMiB(group: number, but: number, limitMiB: number): number {
  const members = membersOf(group).filter((pid) => pid !== but);
  const residentMiB = sum(members, (pid) => kibOf(`/proc/${pid}/status`, 'VmRSS'));
  if (residentMiB <= limitMiB || members.length < 2) return residentMiB;
  return sum(members, (pid) => kibOf(`/proc/${pid}/smaps_rollup`, 'Pss'));
}

function sum(pids: readonly number[], kib: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + kib(pid), 0) / MIB_KIB;
}

function membersOf(group: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && groupOf(pid) === group ? [pid] : [];
  });
}

/** Behind the name, which may have anything in it: state, parent, group. */
function groupOf(pid: number): number | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[2]);
}

/** 0 for a process that has ended, or is about to. */
function kibOf(file: string, name: string): number {
  const line = read(file)?.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'));
  return Number(line?.[1] ?? 0);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
