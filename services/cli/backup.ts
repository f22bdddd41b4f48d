import { closeSync, createReadStream, fsyncSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { requireRegularFile } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { BackupError, readBackup, type BackupHeader, type BackupPart } from '../backup/index.js';
import type { BundleStore } from '../bundles/index.js';
import type { Versioned } from '../store/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { OutputFile } from './outputFile.js';
import { print } from './printing.js';

interface RestoreOptions {
  readonly dataDir?: string;
  readonly store?: string;
  readonly redisPrefix?: string;
  readonly bundleDir?: string;
  readonly json?: true;
}

export function addBackupCommand(program: Command): void {
  withManagementOptions(
    program
      .command('backup')
      .description(
        'write all that a running server keeps to a file: applications, models, links, keys, what was learned',
      )
      .argument('<file>', 'to write; it has its name once all of it is there'),
  ).action(backup);
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description(
      'put a backup into a data directory, or a Redis, where nothing is; then start the server with it',
    )
    .argument('<file>', 'that backup wrote')
    .option('--data-dir <folder>', 'the data directory')
    .option('--store <url>', 'the Redis that servers share; its password also as WINDJAMMER_REDIS_PASSWORD')
    .option('--redis-prefix <name>', 'what the keys in that Redis begin with (default: "windjammer")')
    .option('--bundle-dir <folder>', 'with --store: where files of models go; into Redis without it')
    .option('--json', 'print JSON')
    .action(restore);
}

async function backup(file: string, options: ClientOptions): Promise<void> {
  const { management } = await clientOf(options);
  const output = new OutputFile(resolve(file), 'backup');
  let header: BackupHeader | undefined;
  // Read as it comes: what is not whole gets no name.
  for await (const part of readBackup(written(management.backup(undefined, options.timeoutMs), output))) {
    if (part.kind === 'header') header = part.header;
  }
  output.close();
  const there = openSync(file, 'r');
  fsyncSync(there);
  closeSync(there);
  print(options.json, { file, ...header }, `${file}: ${header === undefined ? '' : summary(header)}`);
}

async function* written(chunks: AsyncIterable<Uint8Array>, output: OutputFile): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    output.write(chunk);
    yield chunk;
  }
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const { dataDir, store, redisPrefix, bundleDir } = options;
  if ((dataDir === undefined) === (store === undefined)) {
    throw new CommandError('say where to: --data-dir FOLDER or --store redis://HOST');
  }
  if (dataDir === '') throw new CommandError('--data-dir is empty: name a folder');
  if (store === undefined && (redisPrefix ?? bundleDir) !== undefined) {
    throw new CommandError('--redis-prefix and --bundle-dir go with --store');
  }
  // All of it first: what is damaged changes nothing.
  const entries = new Map<string, Versioned>();
  const { storedFault } = await import('../storedContent.js');
  let header: BackupHeader | undefined;
  for await (const part of partsOf(file)) {
    if (part.kind === 'header') header = part.header;
    if (part.kind !== 'entry') continue;
    const { key, version, value } = part;
    const damaged = (how: string) => new CommandError(`${file}: the backup is damaged: ${how}`);
    if (entries.has(key)) throw damaged(`it has ${key} twice`);
    // What serve would refuse is refused while there is nothing to clean up.
    const fault = storedFault(key, value);
    if (fault !== undefined) throw damaged(`${key} is not as servers write it (${fault})`);
    entries.set(key, { version, value });
  }
  if (header === undefined) throw new CommandError(`${file} has nothing to restore`);
  if (store === undefined) {
    const { restoreDirectory } = await import('../store/index.js');
    const folder = resolve(dataDir ?? '');
    const { FolderBundles, UPLOADS_FOLDER } = await import('../bundles/index.js');
    await restoreDirectory(folder, entries, () =>
      restoreBundles(file, new FolderBundles(join(folder, UPLOADS_FOLDER), 'later')),
    );
  } else {
    const { redisAddress, DEFAULT_PREFIX } = await import('../redis/index.js');
    const { restoreRedis } = await import('../store/index.js');
    const { openBundles } = await import('../bundles/index.js');
    const address = redisAddress(store, process.env['WINDJAMMER_REDIS_PASSWORD']);
    await restoreRedis(address, redisPrefix ?? DEFAULT_PREFIX, entries, async (redis, prefix) =>
      restoreBundles(file, await openBundles(redis, prefix, bundleDir)),
    );
  }
  print(options.json, { restored: file, ...header }, `Restored ${summary(header)}`);
}

async function restoreBundles(file: string, bundles: BundleStore): Promise<void> {
  const parts = partsOf(file);
  let next = await parts.next();
  while (next.done !== true) {
    const part = next.value;
    next = await parts.next();
    if (part.kind !== 'bundle') continue;
    await bundles.put(
      part.hash,
      part.index,
      (async function* () {
        while (next.done !== true && next.value.kind === 'piece') {
          yield next.value.bytes;
          next = await parts.next();
        }
      })(),
    );
  }
}

/** @throws CommandError where it cannot be read; BackupError */
async function* partsOf(file: string): AsyncGenerator<BackupPart> {
  try {
    // It is read twice where it goes to a Redis.
    requireRegularFile(file);
  } catch (error) {
    throw new CommandError(`restore: ${reasonOf(error)}`, { cause: error });
  }
  try {
    yield* readBackup(createReadStream(file) as AsyncIterable<Buffer>);
  } catch (error) {
    if (error instanceof BackupError) throw new CommandError(`${file}: ${error.message}`, { cause: error });
    if (error instanceof Error && 'syscall' in error) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

function summary({
  entries,
  bundles,
  made_at: madeAt,
  not_included: paths,
  left_out: left,
}: BackupHeader): string {
  const files = bundles === 0 ? '' : ` and the files of ${bundles} models`;
  const missing = paths.map((path) => `\nnot included, keep it yourself: ${path}`).join('');
  const jobs = left === undefined ? 'batch jobs' : `${left.jobs} batch jobs`;
  const queued =
    left === undefined ? 'feedback that is queued' : `${left.queued_feedback} feedback that is queued`;
  return (
    `${entries} entries${files}, of ${madeAt}.${missing}\n` +
    `in no backup: ${jobs} with their results, ${queued}, which feedback was seen in the last 24 hours`
  );
}
