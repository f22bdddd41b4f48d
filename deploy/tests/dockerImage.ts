import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import type {
  Instruction,
  JSONInstruction,
  ModifiableInstruction,
  PropertyInstruction,
} from 'dockerfile-ast';
import { packageRoot } from '../../simulator/files/index.js';
import { packPackage } from '../../services/tests/packedPackage.js';
import { Container, type Mount } from './container.js';

/** What an image says of how it is started. */
export interface ImageSettings {
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly volumes: readonly string[];
  readonly stopSignal: string;
}

export interface Image extends ImageSettings {
  /** Its root folder. */
  readonly root: string;
}

class Stage {
  readonly environment: Record<string, string> = {};
  readonly volumes: string[] = [];
  workingDirectory = '/';
  user = 'root';
  entrypoint: readonly string[] = [];
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];
  stopSignal = 'SIGTERM';

  constructor(
    readonly name: string,
    readonly root: string,
  ) {
    mkdirSync(root, { recursive: true });
  }

  /** Of this machine, of a path of the stage. */
  path(path: string): string {
    return join(this.root, path.startsWith('/') ? path : join(this.workingDirectory, path));
  }
}

/**
 * Lays out what the Dockerfile makes, line by line, as far as that goes without an engine: programs of base images are this machine's. The
 * stage that builds is not run; what it leaves is the package of the build that is there.
 */
export async function buildImage(folder: string): Promise<Image> {
  const file = readFileSync(join(packageRoot(), 'deploy/Dockerfile'), 'utf8');
  const stages: Stage[] = [];
  for (const instruction of DockerfileParser.parse(file).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const [, name = 'last'] = /AS (\S+)$/i.exec(instruction.getArgumentsContent() ?? '') ?? [];
      stages.push(new Stage(name, join(folder, name)));
      if (name === 'build') packedInto(stages[0]);
    } else {
      const stage = stages.at(-1);
      if (stage !== undefined && stage.name !== 'build') await carryOut(instruction, stage, stages);
    }
  }
  const last = stages.at(-1);
  if (last?.name !== 'last') throw new Error('the last stage of the Dockerfile is to have no name');
  return last;
}

function packedInto(build: Stage): void {
  mkdirSync(build.path('/tmp'), { recursive: true });
  packPackage(build.path('/tmp'));
}

async function carryOut(instruction: Instruction, stage: Stage, stages: readonly Stage[]): Promise<void> {
  const text = instruction.getArgumentsContent() ?? '';
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      stage.workingDirectory = text;
      mkdirSync(stage.path(text), { recursive: true });
      return;
    case 'COPY':
      copy(instruction, stage, stages);
      return;
    case 'RUN':
      await Container.run({
        name: `run-${stage.name}`,
        root: stage.root,
        isRootWritable: true,
        mounts: registryMounts(),
        environment: { ...process.env, HOME: '/root', npm_config_prefer_offline: 'true' },
        workingDirectory: stage.workingDirectory,
        command: ['sh', '-ec', text],
      });
      return;
    case 'ENV':
      for (const property of (instruction as PropertyInstruction).getProperties())
        stage.environment[property.getName()] = property.getValue() ?? '';
      return;
    case 'VOLUME':
      stage.volumes.push(...text.split(/\s+/));
      return;
    case 'USER':
      stage.user = text;
      return;
    case 'STOPSIGNAL':
      stage.stopSignal = text;
      return;
    case 'HEALTHCHECK':
      stage.healthCheck = JSON.parse(text.replace(/^CMD\s*/, '')) as string[];
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = jsonWords(instruction);
      return;
    case 'CMD':
      stage.command = jsonWords(instruction);
      return;
    case 'EXPOSE':
      return;
    default:
      throw new Error(`the Dockerfile has ${instruction.getKeyword()}, which is not tried here`);
  }
}

/** @throws Error where a shell would be between the engine and the program */
function jsonWords(instruction: Instruction): readonly string[] {
  const words = (instruction as JSONInstruction).getJSONStrings().map((one) => one.getJSONValue());
  if (words.length === 0) throw new Error(`${instruction.getKeyword()} is to be a list of words`);
  return words;
}

function copy(instruction: Instruction, stage: Stage, stages: readonly Stage[]): void {
  const flags = (instruction as ModifiableInstruction).getFlags();
  const flag = (name: string) => flags.find((one) => one.getName() === name)?.getValue() ?? undefined;
  const words = instruction.getArguments().map((argument) => argument.getValue());
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.at(-1) ?? '';
  const from = flag('from');
  const source = from === undefined ? packageRoot() : stages.find(({ name }) => name === from)?.root;
  if (source === undefined) throw new Error(`there is no stage ${from}`);
  for (const pattern of paths.slice(0, -1)) {
    const found = matching(join(source, pattern));
    if (found.length === 0) throw new Error(`COPY finds no ${pattern}`);
    for (const one of found) {
      const at = stage.path(target.endsWith('/') ? join(target, basename(one)) : target);
      mkdirSync(join(at, '..'), { recursive: true });
      execFileSync('cp', ['-a', '-T', one, at]);
      const owner = flag('chown');
      execFileSync('chown', ['-R', owner ?? '0:0', at]);
    }
  }
}

/** Files and folders by a path whose last part may have stars. */
function matching(pattern: string): readonly string[] {
  const parts = basename(pattern)
    .split('*')
    .map((part) => part.replaceAll('.', '\\.'));
  const name = new RegExp(`^${parts.join('.*')}$`);
  return readdirSync(dirname(pattern))
    .filter((one) => name.test(one))
    .map((one) => join(dirname(pattern), one));
}

/** How this machine reaches the registry of packages, and what it has of it. */
function registryMounts(): readonly Mount[] {
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  const files = [
    { path: '/root/.npmrc', from: join(homedir(), '.npmrc') },
    ...(certificates === undefined ? [] : [{ path: certificates, from: certificates }]),
  ].filter(({ from }) => existsSync(from));
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  mkdirSync(cache, { recursive: true });
  return [
    ...files.map((file) => ({ ...file, isWritable: false })),
    { path: '/root/.npm', from: cache, isWritable: true },
  ];
}

/** `UID:GID`, as an image and a service of compose say it. */
export function userOf(text: string): { readonly uid: number; readonly gid: number } {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(text) ?? [];
  if (uid === undefined) throw new Error(`'${text}' is no UID:GID: names mean nothing outside of an image`);
  return { uid: Number(uid), gid: Number(gid) };
}
