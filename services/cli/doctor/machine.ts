import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../../../simulator/text/index.js';
import { fail, mebibytes, ok, warn, type Finding } from './finding.js';

const MIB = 1024 * 1024;
/** Of a server with the applications that come with it, beside its cache and the bodies under way. */
const BASE_BYTES = 512 * MIB;
/** Beside connections: the store, containers, files of models, and room to go on in. */
const OTHER_FILES = 256;

/** Compiled for a system, and without which nothing is kept, or WebSockets are slower. */
const NATIVE = ['lmdb', 'fs-native-extensions', 'bufferutil'] as const;

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** Node, and the package with what it has of compiled code. */
export async function versions(): Promise<Finding[]> {
  const { version, engines } = manifest();
  const [major, minor] = numbers(process.versions.node);
  const [leastMajor, leastMinor] = numbers(engines.node);
  const isNew = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  const node = `Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  const findings = [
    isNew
      ? ok('versions', `Windjammer ${version} on ${node}`)
      : fail('versions', `${node}: Windjammer ${version} needs ${engines.node}`, 'install a later Node'),
  ];
  for (const name of NATIVE) {
    try {
      await import(name);
      findings.push(ok('native modules', `${name} loads`));
    } catch (error) {
      const fix = `install the package on this system, with this Node: npm ci, or npm rebuild ${name}`;
      findings.push(fail('native modules', `${name} does not load: ${reasonOf(error)}`, fix));
    }
  }
  return findings;
}

/** Whether there is memory for what the options allow. */
export function memory(wantedBytes: number): Finding {
  const limit = Math.min(totalmem(), ...cgroupLimits());
  const whose = limit < totalmem() ? 'the control group has' : 'the machine has';
  const needs = wantedBytes + BASE_BYTES;
  const text = `${whose} ${mebibytes(limit)}; cache and bodies may take ${mebibytes(wantedBytes)}, the server itself about ${mebibytes(BASE_BYTES)}`;
  if (needs <= limit) return ok('memory', text);
  return warn('memory', text, 'lower --cache-mib or --max-buffered-mib, or give it more memory');
}

/** Whether so many connections can be open. */
export function files(connections: number): Finding {
  const limit = fileLimit();
  if (limit === undefined)
    return warn('files', 'the limit of open files cannot be read', 'look with ulimit -n');
  const needs = connections + OTHER_FILES;
  const text = `${limit === Infinity ? 'any number of' : limit} open files; --max-connections ${connections} needs about ${needs}`;
  if (limit >= needs) return ok('files', text);
  return warn(
    'files',
    text,
    `ulimit -n ${needs} (systemd: LimitNOFILE=${needs}), or lower --max-connections`,
  );
}

function cgroupLimits(): number[] {
  // Of the group that this process sees as its root, in version 2 and 1.
  const paths = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];
  return paths.flatMap((path) => {
    const text = read(path)?.trim() ?? '';
    return /^\d+$/.test(text) ? [Number(text)] : [];
  });
}

function fileLimit(): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(read('/proc/self/limits') ?? '')?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function numbers(text: string): number[] {
  return (/\d+(?:\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number);
}

/** Of the package that this file is of, compiled or not. */
function manifest(): Manifest {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
