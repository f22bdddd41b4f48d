import { ServiceError } from '../errors/index.js';
import { checkName } from '../registry/index.js';
import type { Json } from '../../selection/index.js';
import { notKept, storeKey, storeKeyParts, type Store, type Versioned } from '../store/index.js';
import { AccessError } from './accessError.js';
import { AccessKey, type KeyRecord } from './accessKey.js';
import { keyHash, keyId, newKeyText } from './keyText.js';
import type { Scope } from './scopes.js';

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  /** From now on; undefined: until it is removed. */
  readonly lifetimeMs?: number | undefined;
}

/** A record with the hash of the key's text. */
interface StoredKey extends KeyRecord {
  /** Hexadecimal. */
  readonly hash: string;
}

const PREFIX = 'access/key/';

/**
 * Ids of keys that could administer and are removed, the last ones: whoever removes one writes this first, so that of several that
 * remove the others' last ones at once, on whatever server, each knows of those before it.
 */
const REMOVED = 'access/removed';
const MOST_REMOVED = 1000;

/** How the key that was handed in at the start is listed. */
const START_KEY_NAME = 'admin key given at the start';

/**
 * Every key that is accepted: those in the store, and the one that the server may have been started with. Changes show
 * at once; their promises settle when they are durable. Rejections are ServiceErrors.
 */
export class AccessKeys {
  private readonly keys = new Map<string, AccessKey>();
  private readonly startKey: AccessKey | undefined;
  private removed: ReadonlySet<string> = new Set();
  private readonly unwatch: readonly (() => void)[];

  /**
   * @param startKey the text of a key that may administer and is not kept: how an operator gets in
   * @throws AccessError when it is no key's text
   */
  constructor(
    private readonly store: Store,
    startKey?: string,
    private readonly nowMs: () => number = Date.now,
  ) {
    if (startKey !== undefined) this.startKey = keyOfStart(startKey, nowMs());
    for (const { key, entry } of store.list(PREFIX)) this.apply(key, entry);
    this.applyRemoved(store.get(REMOVED));
    this.unwatch = [
      store.watch(PREFIX, ({ key, value }) => this.apply(key, value)),
      store.watch(REMOVED, ({ value }) => this.applyRemoved(value)),
    ];
  }

  close(): void {
    for (const unwatch of this.unwatch) unwatch();
  }

  /** Live or not; undefined: there is none with this id. */
  find(id: string): AccessKey | undefined {
    if (this.startKey?.record.id === id) return this.startKey;
    return this.removed.has(id) ? undefined : this.keys.get(id);
  }

  /** Whether a key that may administer is live: without one nobody gets in any more. */
  canAdminister(): boolean {
    const nowMs = this.nowMs();
    return this.all().some((key) => key.permits('admin') && key.isLive(nowMs));
  }

  /** Oldest first. */
  list(): readonly KeyRecord[] {
    return this.all()
      .map(({ record }) => record)
      .sort((one, other) => one.createdMs - other.createdMs || (one.id < other.id ? -1 : 1));
  }

  /**
   * Makes a key. Its text is in the answer and nowhere else.
   * Errors: `invalid_value`, `invalid_name`, `conflicting_fields`, `storage_full`, `store_failed`.
   */
  async add(wanted: NewKey): Promise<{ readonly text: string; readonly record: KeyRecord }> {
    this.check(wanted);
    const { lifetimeMs, ...kept } = wanted;
    const createdMs = this.nowMs();
    const expiry = lifetimeMs === undefined ? {} : { expiresMs: createdMs + lifetimeMs };
    const text = newKeyText();
    const id = keyId(text) ?? '';
    const record: KeyRecord = { id, ...kept, createdMs, ...expiry };
    const stored: StoredKey = { ...record, hash: keyHash(text).toString('hex') };
    // Undefined members are left out, as JSON does.
    await this.write(id, JSON.parse(JSON.stringify(stored)) as Json);
    return { text, record };
  }

  /**
   * Removes a key: requests with it are refused at once, and what it holds open ends.
   * Errors: `unknown_key`, `last_admin_key`, `storage_full`, `store_failed`.
   * @param evenLast for whoever has the data directory, and so is locked out of nothing
   */
  async remove(id: string, evenLast = false): Promise<void> {
    const key = this.find(id);
    if (key === undefined) throw new ServiceError('unknown_key', 'no key has this id', 'id');
    if (key === this.startKey) {
      const message = 'this key was given at the start; start the server without it, or with another';
      throw new ServiceError('last_admin_key', message, 'id');
    }
    if (key.permits('admin') && !evenLast) {
      if (!(await this.writeRemoved(key))) {
        // Somebody else has removed another meanwhile.
        await this.remove(id);
        return;
      }
      // It is refused from now on, whether its record can be deleted or not.
      await this.write(id, undefined).catch(() => undefined);
      return;
    }
    await this.write(id, undefined);
  }

  /** @returns whether nobody else was first. Errors: `last_admin_key`, `storage_full`, `store_failed`. */
  private writeRemoved(key: AccessKey): Promise<boolean> {
    const nowMs = this.nowMs();
    const administers = (one: AccessKey) => one.permits('admin') && one.isLive(nowMs);
    if (administers(key) && !this.all().some((one) => one !== key && administers(one))) {
      const message = 'no other key may administer; add one with the scope admin first';
      throw new ServiceError('last_admin_key', message, 'id');
    }
    const entry = this.store.get(REMOVED);
    const ids = [...idsOf(entry), key.record.id].slice(-MOST_REMOVED);
    return new Promise((resolve, reject) => {
      this.store.set(REMOVED, ids, entry?.version ?? 0, (outcome) => {
        if (outcome.ok || outcome.reason === 'conflict') resolve(outcome.ok);
        else reject(notKept(outcome));
      });
    });
  }

  private all(): AccessKey[] {
    const kept = [...this.keys.values()].filter(({ record }) => !this.removed.has(record.id));
    return this.startKey === undefined ? kept : [this.startKey, ...kept];
  }

  private check({ scopes, applications, models, lifetimeMs }: NewKey): void {
    if (scopes.length === 0)
      throw new ServiceError('invalid_value', 'scopes: at least one is needed', 'scopes');
    for (const [field, names] of [['applications', applications] as const, ['models', models] as const]) {
      names?.forEach((name, index) => checkName(name, `${field}[${index}]`));
      const wide = scopes.find((scope) => scope === 'admin' || scope === 'metrics');
      if (names !== undefined && wide !== undefined) {
        const message = `${field} limits predict and feedback only; give the scope ${wide} to a key of its own`;
        throw new ServiceError('conflicting_fields', message, field);
      }
    }
    if (lifetimeMs !== undefined && !(lifetimeMs > 0)) {
      throw new ServiceError('invalid_value', 'the key would have expired already', 'lifetime_seconds');
    }
  }

  private apply(storedKey: string, entry: Versioned | undefined): void {
    const [, , id] = storeKeyParts(storedKey);
    this.keys.get(id)?.end();
    if (entry === undefined) this.keys.delete(id);
    else {
      // The room's own writes: their shape is trusted.
      const { hash, ...record } = entry.value as unknown as StoredKey;
      this.keys.set(id, new AccessKey(record, Buffer.from(hash, 'hex')));
    }
  }

  private applyRemoved(entry: Versioned | undefined): void {
    const before = this.removed;
    this.removed = new Set(idsOf(entry));
    for (const id of this.removed) if (!before.has(id)) this.keys.get(id)?.end();
    for (const id of before) {
      // It could not be removed.
      const key = storeKey('access', 'key', id);
      if (!this.removed.has(id)) this.apply(key, this.store.get(key));
    }
  }

  private write(id: string, value: Json | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.store.set(storeKey('access', 'key', id), value, value === undefined ? 'any' : 0, (outcome) => {
        if (outcome.ok) resolve();
        else if (outcome.reason === 'failed') reject(notKept(outcome));
        else reject(new ServiceError('concurrent_change', 'the id is taken; repeat the request'));
      });
    });
  }
}

function idsOf(entry: Versioned | undefined): readonly string[] {
  // The room's own writes: their shape is trusted.
  return (entry?.value ?? []) as readonly string[];
}

function keyOfStart(text: string, createdMs: number): AccessKey {
  const id = keyId(text);
  if (id === undefined) {
    throw new AccessError('the admin key is no key: make one with windjammer key generate');
  }
  return new AccessKey({ id, name: START_KEY_NAME, scopes: ['admin'], createdMs }, keyHash(text));
}
