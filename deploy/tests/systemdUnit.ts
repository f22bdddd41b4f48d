import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import type { ContainerSpec, Mount } from './container.js';

export const UNITS = join(packageRoot(), 'deploy/systemd');

/** One of those that systemd takes for DynamicUser. */
const DYNAMIC_USER = 61_234;

type Settings = readonly (readonly [key: string, value: string])[];

/** A unit as systemd would start it: what its service section says of the program, its folders, user and environment. */
export class SystemdUnit {
  private readonly settings: Settings;
  private readonly instance: string;

  /** @param name as of `systemctl start`. @param dropIns files of deploy/systemd that are put beside it */
  constructor(
    readonly name: string,
    dropIns: readonly string[] = [],
  ) {
    const [, template, instance = ''] = /^([^@]+@?)([^.]*)\.service$/.exec(name) ?? [];
    this.instance = instance;
    this.settings = [`${template}.service`, ...dropIns].flatMap((file) =>
      serviceSettings(readFileSync(join(UNITS, file), 'utf8')),
    );
  }

  all(key: string): readonly string[] {
    return this.settings.filter(([name]) => name === key).map(([, value]) => this.expanded(value));
  }

  one(key: string): string {
    const value = this.all(key).at(-1);
    if (value === undefined) throw new Error(`${this.name} has no ${key}`);
    return value;
  }

  /** @param folder of this machine, for what is kept. @param files by their paths: those that EnvironmentFile and LoadCredential name */
  spec(folder: string, files: Readonly<Record<string, string>>): Omit<ContainerSpec, 'name' | 'network'> {
    const state = this.one('StateDirectory');
    const kept = join(folder, 'state', state);
    mkdirSync(kept, { recursive: true });
    chownSync(kept, DYNAMIC_USER, DYNAMIC_USER);
    const credentials = this.all('LoadCredential').map((text): Mount => {
      const [id, path] = text.split(':');
      const from = join(folder, `${this.name}-${id}`);
      writeFileSync(from, fileText(files, path));
      chownSync(from, DYNAMIC_USER, DYNAMIC_USER);
      return { path: `/run/credentials/${this.name}/${id}`, from, isWritable: false };
    });
    const isRootWritable = this.one('ProtectSystem') !== 'strict';
    return {
      root: join(folder, 'root'),
      isRootWritable,
      mounts: [{ path: `/var/lib/${state}`, from: kept, isWritable: true }, ...credentials],
      tmpfs: this.one('PrivateTmp') === 'yes' ? ['/tmp', '/var/tmp'] : [],
      environment: this.environment(files),
      user: { uid: DYNAMIC_USER, gid: DYNAMIC_USER },
      command: this.one('ExecStart').split(' '),
    };
  }

  /** Later lines win, and those of files over those of the unit. */
  private environment(files: Readonly<Record<string, string>>): Record<string, string> {
    const texts = this.all('EnvironmentFile').map((path) =>
      path.startsWith('-') ? (files[path.slice(1)] ?? '') : fileText(files, path),
    );
    const lines = [...this.all('Environment'), ...texts.flatMap((text) => text.split('\n'))];
    const pairs = lines.filter((line) => line.includes('=') && !line.startsWith('#'));
    return Object.fromEntries(pairs.map((line) => [line.replace(/=.*/, ''), line.replace(/^[^=]*=/, '')]));
  }

  private expanded(value: string): string {
    const specifiers: Readonly<Record<string, string>> = {
      i: this.instance,
      S: '/var/lib',
      d: `/run/credentials/${this.name}`,
      '%': '%',
    };
    return value.replace(/%(.)/g, (_whole, letter: string) => {
      const text = specifiers[letter];
      if (text === undefined) throw new Error(`${this.name}: %${letter} is not known here`);
      return text;
    });
  }
}

function fileText(files: Readonly<Record<string, string>>, path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error(`there is no ${path}`);
  return text;
}

function serviceSettings(text: string): Settings {
  let section = '';
  return text.split('\n').flatMap((line) => {
    const head = /^\[(\w+)\]$/.exec(line);
    if (head !== null) section = head[1];
    const setting = /^(\w+)=(.*)$/.exec(line);
    return setting !== null && section === 'Service' ? [[setting[1], setting[2]] as const] : [];
  });
}
