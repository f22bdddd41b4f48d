import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import { isCold } from '../coldKeys.js';
import type { Versioned } from '../store.js';
import { StoreError } from '../storeError.js';
import { openedAside } from './lockAside.js';
import { PlaceOfFiles } from './placeOfFiles.js';

/** What the files hold; grows by one when an older program could no longer read them. */
export const SCHEMA_VERSION = 1;

/** A key's entry as it is to be kept; undefined: none. */
export type Put = readonly [key: string, entry: Versioned | undefined];

type MarkKey = [generation: number, mark: string];

/** What a store holds. */
export interface StoreContent {
  readonly entries: readonly (readonly [key: string, entry: Versioned])[];
  readonly marks: readonly MarkKey[];
}

/** Marks that a commit leaves. Those of generations before the oldest may go. */
export interface MarkPut {
  readonly made: readonly string[];
  readonly generation: number;
  readonly oldest: number;
}

/** So many old marks go with each new one: more than came, so that they end, and few enough that no commit waits. */
const FORGOTTEN_PER_MARK = 4;

/** Entries of a folder that are read at once: so long others wait. */
export const SLICE = 500;

/**
 * Of the address space, not of memory nor of the disk: a file that outgrows its mapping is mapped once more beside the old one, and
 * what was read of it counts twice in the resident memory. Little beside what GPU nodes reserve, where the address space is limited:
 * LMDB's library does not outlive a mapping that fails.
 */
const MAP_BYTES = 2 ** 32;

const TRIAL = 'trial';

/**
 * The files of a store (LMDB). Everything here waits for the disk, so it is for a thread of its own: LMDB's library
 * commits beside the caller's thread too, but what fails there ends the process.
 */
export class StoreFiles {
  private root: RootDatabase<unknown, string>;
  private state: Database<Versioned, string>;
  /** Entries of cold keys, as 'version json'. */
  private cold: Database<string, string> | undefined;
  private meta: Database<number | string, string>;
  /** By generation and mark, so that the oldest come first. */
  private marks: Database<1, MarkKey> | undefined;
  /** After a commit that failed, LMDB may refuse all others until its files are opened anew. */
  private isSuspect = false;
  /** LMDB's library closes what it has opened, and only once. */
  private isOpen = true;
  private readonly place: PlaceOfFiles;

  /**
   * @param isReadOnly the file system takes nothing at present
   * @throws StoreError `schemaTooNew`; whatever else LMDB and the file system say
   */
  constructor(
    readonly directory: string,
    private isReadOnly: boolean,
  ) {
    [this.root, this.meta, this.state, this.marks, this.cold] = openFiles(directory, isReadOnly);
    this.place = new PlaceOfFiles(directory);
  }

  content(): StoreContent {
    return {
      entries: [...this.state.getRange()].map(({ key, value }) => [key, value]),
      marks: [...(this.marks?.getKeys() ?? [])],
    };
  }

  /** All or nothing, and on disk when it returns. */
  async commit(puts: readonly Put[], { made, generation, oldest }: MarkPut): Promise<void> {
    await this.transaction(() => {
      const { marks, cold } = this;
      for (const [key, entry] of puts) {
        if (isCold(key)) {
          if (entry === undefined) cold?.removeSync(key);
          else cold?.putSync(key, `${entry.version} ${JSON.stringify(entry.value)}`);
        } else if (entry === undefined) this.state.removeSync(key);
        else this.state.putSync(key, entry);
      }
      if (made.length === 0 || marks === undefined) return;
      for (const mark of made) marks.putSync([generation, mark], 1);
      const old = [...marks.getKeys({ end: [oldest, ''], limit: made.length * FORGOTTEN_PER_MARK })];
      for (const key of old) marks.removeSync(key);
    });
  }

  /** Of cold keys. */
  read(keys: readonly string[]): (string | undefined)[] {
    const found = keys.map((key) => this.cold?.get(key));
    this.cold?.resetReadTxn();
    return found;
  }

  /** @param from the last key of the slice before */
  slice(folder: string, from: string | undefined): [key: string, text: string][] {
    const start = from === undefined ? `${folder}/` : `${from}\u0001`;
    // Behind every key of the folder, and before those of others.
    const range = this.cold?.getRange({ start, end: `${folder}0`, limit: SLICE }) ?? [];
    const found = [...range].map(({ key, value }): [string, string] => [key, value]);
    // As long as a reader is there, LMDB takes new pages for what it writes and lets its file grow.
    this.cold?.resetReadTxn();
    return found;
  }

  /** @throws DisplacedError */
  checkPlace(): void {
    this.place.check();
  }

  /** Keeps so many bytes, and lets them go again. */
  async trial(bytes: number): Promise<void> {
    if (this.isReadOnly) await this.becomeWritable();
    await this.transaction(() => this.meta.putSync(TRIAL, 'x'.repeat(bytes)));
    await this.transaction(() => this.meta.removeSync(TRIAL));
  }

  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.root.close();
  }

  private async transaction(act: () => void): Promise<void> {
    this.place.check();
    if (this.isSuspect) await this.reopen();
    this.isSuspect = true;
    this.root.transactionSync(act);
    this.isSuspect = false;
    this.place.written();
  }

  /** A file system that was read-only may be written elsewhere: what it holds must be what was read from it. */
  private async becomeWritable(): Promise<void> {
    const before = lastTransaction(this.root);
    this.isReadOnly = false;
    try {
      await this.reopen();
    } catch (error) {
      this.isReadOnly = true;
      await this.reopen();
      throw error;
    }
    if (lastTransaction(this.root) === before) return;
    throw new Error(
      'another process has changed the store while it was read-only here; start the server again',
    );
  }

  private async reopen(): Promise<void> {
    await this.close().catch(() => undefined);
    [this.root, this.meta, this.state, this.marks, this.cold] = openFiles(this.directory, this.isReadOnly);
    this.isOpen = true;
    this.isSuspect = false;
  }
}

function openFiles(
  directory: string,
  readOnly: boolean,
): [
  RootDatabase<unknown, string>,
  Database<number | string, string>,
  Database<Versioned, string>,
  /** Absent from files of a program before it had marks, while they cannot be written. */
  Database<1, MarkKey> | undefined,
  Database<string, string> | undefined,
] {
  const root = openedAside(join(directory, 'store'), readOnly, (path) =>
    open<unknown, string>({
      path,
      maxDbs: 8,
      encoding: 'json',
      readOnly,
      mapSize: MAP_BYTES,
      // A commit that returns is on disk.
      overlappingSync: false,
    }),
  );
  try {
    const meta = root.openDB<number | string, string>({ name: 'meta', encoding: 'json' });
    checkSchema(meta, directory, readOnly);
    return [
      root,
      meta,
      root.openDB<Versioned, string>({ name: 'state', encoding: 'json' }),
      root.openDB<1, MarkKey>({ name: 'marks', encoding: 'json' }),
      root.openDB<string, string>({ name: 'cold', encoding: 'string' }),
    ];
  } catch (error) {
    void root.close();
    throw error;
  }
}

function lastTransaction(root: RootDatabase<unknown, string>): unknown {
  return (root.getStats() as { lastTxnId?: unknown }).lastTxnId;
}

function checkSchema(meta: Database<number | string, string>, directory: string, readOnly: boolean): void {
  const found = meta.get('schema');
  if (found === undefined) {
    if (!readOnly) meta.putSync('schema', SCHEMA_VERSION);
  } else if (Number(found) > SCHEMA_VERSION) {
    throw new StoreError(
      'schemaTooNew',
      `the store in ${directory} has schema ${found}, this program knows up to ${SCHEMA_VERSION}; ` +
        'use the program that wrote it or another data directory',
    );
  }
}
