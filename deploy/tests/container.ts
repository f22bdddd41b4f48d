import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { ContainerNetwork } from './containerNetwork.js';

export interface Mount {
  /** Where the container has it. */
  readonly path: string;
  /** Of this machine: a folder or a file. */
  readonly from: string;
  readonly isWritable: boolean;
}

/** What a container engine is told. */
export interface ContainerSpec {
  readonly name: string;
  /** Its root folder; programs and libraries are those of this machine, under it. */
  readonly root: string;
  readonly isRootWritable?: boolean;
  readonly mounts?: readonly Mount[];
  /** Folders in memory. */
  readonly tmpfs?: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory?: string;
  /** Numbers, and no rights beyond theirs; root with all of its own unless given. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The machine's own unless given. */
  readonly network?: ContainerNetwork;
  /** Further names, with their addresses. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** Taken from this machine as they are, in place of those of a base image. */
const PROGRAMS = ['/usr', '/etc/ssl', '/etc/alternatives', '/etc/ld.so.cache'];
const LINKS = ['bin', 'sbin', 'lib', 'lib64'];
const ETC_FILES = ['passwd', 'group', 'nsswitch.conf', 'resolv.conf', 'services'];

/**
 * A program as a container engine would start it, with a root folder, mounts, user, rights and network of its own, but that it shares the
 * processes of this machine: signals reach it as they reach the first process of a container, in the order in which they are sent.
 */
export class Container {
  output = '';
  errors = '';
  private readonly child: ChildProcessByStdio<null, Readable, Readable>;
  private readonly gone: Promise<number | NodeJS.Signals | null>;

  constructor(readonly spec: ContainerSpec) {
    const { network, name } = spec;
    // Each of these becomes the next one: the child is the program in the end.
    const [program, ...words] = [
      ...(network === undefined ? [] : ['nsenter', `--net=${network.namespaceFile(name)}`]),
      ...['unshare', '--mount', '--propagation', 'private', 'sh', '-eu', '-c', layOut(spec)],
    ];
    this.child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.gone = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, by) => resolve(by ?? code));
    });
  }

  /** Runs a command in a container of its own, to its end. @returns what it wrote. @throws Error with what it wrote, unless it ends with 0 */
  static async run(spec: ContainerSpec): Promise<string> {
    const container = new Container(spec);
    const by = await container.gone;
    const text = container.output + container.errors;
    if (by === 0) return text;
    throw new Error(`${spec.command.join(' ')} ended with ${by}: ${text}`);
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.spec.name} did not start`);
    return this.child.pid;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until it has written a text. @throws Error with what it wrote, if it ends before */
  async said(text: string): Promise<void> {
    const ended = this.gone.then((by) => {
      throw new Error(`${this.spec.name} ended with ${by}: ${this.output}${this.errors}`);
    });
    ended.catch(() => undefined);
    while (!this.output.includes(text)) await Promise.race([once(this.child.stdout, 'data'), ended]);
  }

  /** Exit code, or the signal that ended it, once it has. */
  ended(): Promise<number | NodeJS.Signals | null> {
    return this.gone;
  }

  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.child.kill(signal);
    return this.gone;
  }

  /** Runs a command inside, as the same user. @returns its exit code, and what it wrote */
  exec(command: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const words = [
      '--target',
      String(this.pid),
      '--mount',
      '--net',
      '--root',
      '--',
      ...entry(this.spec, command),
    ];
    const child = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, text }));
    });
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A shell's script, which makes the folders of the container and becomes its program. */
function layOut(spec: ContainerSpec): string {
  const { root, name, network, isRootWritable = false, mounts = [], tmpfs = [], hosts = {} } = spec;
  const at = (path: string): string => quoted(root + path);
  const lines = [`mount --bind ${quoted(root)} ${quoted(root)}`, `cd ${quoted(root)}`];
  // Of what is mounted, the shell would have to enter again what it stands on.
  lines.push(`cd ${quoted(root)}`, 'mkdir -p etc run tmp proc dev sys');
  lines.push('mount -t tmpfs tmpfs etc', 'mount -t tmpfs tmpfs run');
  for (const file of ETC_FILES) lines.push(`cp -L /etc/${file} etc/ 2>/dev/null || true`);
  const names = { localhost: '127.0.0.1', ...(network && { [name]: network.address(name) }), ...hosts };
  const hostLines = Object.entries(names).map(([host, address]) => `${address} ${host}`);
  lines.push(`printf '%s\\n' ${hostLines.map(quoted).join(' ')} > etc/hosts`);
  for (const link of LINKS) lines.push(`[ -e ${link} ] || [ -L ${link} ] || cp -a /${link} .`);
  for (const path of PROGRAMS) lines.push(...bind({ path, from: path, isWritable: false }, at));
  lines.push('mount --rbind /proc proc', 'mount --rbind /dev dev');
  for (const path of tmpfs)
    lines.push(`mkdir -p ${at(path)}`, `mount -t tmpfs -o mode=1777 tmpfs ${at(path)}`);
  for (const one of mounts) lines.push(...bind(one, at));
  if (!isRootWritable)
    lines.push(
      'mount -o remount,ro etc',
      'mount -o remount,ro run',
      `mount -o remount,bind,ro ${quoted(root)}`,
    );
  lines.push(`exec chroot ${quoted(root)} ${entry(spec, spec.command).map(quoted).join(' ')}`);
  return lines.join('\n');
}

function bind({ path, from, isWritable }: Mount, at: (path: string) => string): readonly string[] {
  const parent = path.replace(/\/[^/]*$/, '');
  const source = quoted(from);
  return [
    `mkdir -p ${at(parent)}`,
    `if [ -d ${source} ]; then mkdir -p ${at(path)}; else [ -e ${at(path)} ] || touch ${at(path)}; fi`,
    `mount --bind ${source} ${at(path)}`,
    ...(isWritable ? [] : [`mount -o remount,bind,ro ${at(path)}`]),
  ];
}

/** What becomes the program once its root is there. */
function entry(spec: ContainerSpec, command: readonly string[]): readonly string[] {
  const { user, environment = {}, workingDirectory = '/' } = spec;
  const rights = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  const variables = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...environment })
    .filter(([, value]) => value !== undefined)
    .map(([variable, value]) => `${variable}=${value}`);
  return [
    ...(user === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, ...rights]),
    ...['env', '-i', `--chdir=${workingDirectory}`, ...variables, ...command],
  ];
}
