import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../simulator/files/index.js';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { Container, type ContainerSpec, type Mount } from './container.js';
import type { ContainerNetwork } from './containerNetwork.js';
import { userOf, type Image } from './dockerImage.js';

export const COMPOSE_FILE = join(packageRoot(), 'deploy/compose.yaml');

/** What is read of a service; the schema of compose has held it to the rest. */
export interface ComposeService {
  readonly image: string;
  readonly build?: unknown;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export function composeFile(): ComposeFile {
  return parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as ComposeFile;
}

/** Programs of Debian that stand for images of others. Of the other images there are none. */
const STAND_INS: Readonly<
  Record<string, { readonly program: string; readonly entrypoint: readonly string[] }>
> = {
  redis: { program: 'redis-server', entrypoint: [] },
  'prom/prometheus': { program: 'prometheus', entrypoint: ['prometheus'] },
};

/** Services of compose.yaml as an engine would start them, as far as their programs are there. */
export class ComposeProject {
  private readonly file = composeFile();
  readonly running = new Map<string, Container>();

  /** @param folder for volumes and secrets. @param hosts services that are something else here */
  constructor(
    private readonly folder: string,
    private readonly image: Image,
    private readonly network: ContainerNetwork,
    private readonly hosts: Readonly<Record<string, string>> = {},
  ) {
    // All have their addresses before any starts, as by the engine's name server.
    for (const name of Object.keys(this.file.services)) if (!(name in hosts)) network.address(name);
  }

  /** Of a service, `HOST:PORT`. */
  address(name: string, port: number): string {
    return `${this.network.address(name)}:${port}`;
  }

  /** As `docker compose up NAME`. */
  start(name: string): Container {
    const container = new Container(this.spec(name));
    this.running.set(name, container);
    return container;
  }

  /** As `docker compose stop NAME`. @returns how it ended */
  async stop(name: string): Promise<number | NodeJS.Signals | null> {
    const container = this.running.get(name);
    if (container === undefined) throw new Error(`${name} does not run`);
    this.running.delete(name);
    return container.end('SIGTERM');
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((name) => this.stop(name)));
  }

  /** What the service's own check says. */
  async isHealthy(name: string): Promise<boolean> {
    const container = this.running.get(name);
    if (container === undefined || container.hasExited)
      throw new Error(`${name} has ended: ${container?.errors}`);
    const [kind, ...words] = this.service(name).healthcheck?.test ?? [];
    const command = kind === 'CMD-SHELL' ? ['sh', '-c', ...words] : words;
    return (await container.exec(command.map(unescaped))).code === 0;
  }

  secret(name: string): string {
    const place = this.file.secrets[name].file;
    return resolve(this.folder, place);
  }

  writeSecret(name: string, text: string): void {
    const file = this.secret(name);
    mkdirSync(dirname(file), { recursive: true });
    // In a folder that is nobody else's: the container's user is a stranger to this machine.
    writeFileSync(file, text, { mode: 0o444 });
  }

  private service(name: string): ComposeService {
    return this.file.services[name];
  }

  private spec(name: string): ContainerSpec {
    const service = this.service(name);
    const own = service.build !== undefined;
    const standIn = STAND_INS[service.image.replace(/:[^:]*$/, '')];
    if (!own) {
      if (standIn === undefined) throw new Error(`no program of Debian stands for ${service.image}`);
      installDebianPackage(standIn.program, () => existsSync(`/usr/bin/${standIn.program}`));
    }
    const root = own ? this.image.root : join(this.folder, 'roots', name);
    mkdirSync(root, { recursive: true });
    const user = userOf(service.user ?? this.image.user);
    const entrypoint = own ? this.image.entrypoint : standIn.entrypoint;
    const addresses = Object.keys(this.file.services).map(
      (other) => [other, this.hosts[other] ?? this.network.address(other)] as const,
    );
    return {
      name,
      root,
      isRootWritable: service.read_only !== true,
      mounts: [...this.volumes(service, user), ...this.secrets(service)],
      tmpfs: service.tmpfs ?? [],
      environment: { ...(own ? this.image.environment : {}), ...service.environment },
      workingDirectory: own ? this.image.workingDirectory : '/',
      user,
      network: this.network,
      hosts: Object.fromEntries(addresses),
      command: [...entrypoint, ...(service.command ?? this.image.command).map(unescaped)],
    };
  }

  private volumes({ volumes = [] }: ComposeService, user: { uid: number; gid: number }): readonly Mount[] {
    return volumes.map((text) => {
      const [source, path, mode] = text.split(':');
      if (source.startsWith('.')) {
        const from = resolve(dirname(COMPOSE_FILE), source);
        if (!existsSync(from)) throw new Error(`compose.yaml mounts ${source}, which is not there`);
        return { path, from, isWritable: mode !== 'ro' };
      }
      if (!(source in this.file.volumes)) throw new Error(`compose.yaml has no volume ${source}`);
      const from = join(this.folder, 'volumes', source);
      if (!existsSync(from)) {
        mkdirSync(from, { recursive: true });
        // A new volume is a copy of what the image has there.
        chownSync(from, user.uid, user.gid);
      }
      return { path, from, isWritable: true };
    });
  }

  private secrets({ secrets = [] }: ComposeService): readonly Mount[] {
    return secrets.map((name) => {
      const from = this.secret(name);
      if (!statSync(from).isFile()) throw new Error(`${from} is no file`);
      return { path: `/run/secrets/${name}`, from, isWritable: false };
    });
  }
}

/** Compose takes `$$` for a dollar. */
function unescaped(text: string): string {
  return text.replaceAll('$$', '$');
}
