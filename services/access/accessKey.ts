import type { Scope, TargetKind } from './scopes.js';

/** What is kept of a key: never its secret. */
export interface KeyRecord {
  /** Names the key everywhere but in requests, also in logs. */
  readonly id: string;
  /** What it is for, in words of whoever made it. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** With one of the two there, the key may ask for those named and for nothing else. */
  readonly applications?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly createdMs: number;
  /** Since the epoch; undefined: until it is removed. */
  readonly expiresMs?: number;
}

/** setTimeout takes no longer ones. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A key that requests can show, as long as it is neither removed nor expired. */
export class AccessKey {
  private readonly scopes: ReadonlySet<Scope>;
  private readonly targets: Readonly<Record<TargetKind, ReadonlySet<string>>>;
  /** Whether it may ask for named applications and models only. */
  readonly isLimited: boolean;
  private readonly holders = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private removed = false;

  constructor(
    readonly record: KeyRecord,
    /** SHA-256 of its text. */
    readonly hash: Buffer,
  ) {
    const { applications, models } = record;
    this.scopes = new Set(record.scopes);
    this.targets = { application: new Set(applications), model: new Set(models) };
    this.isLimited = applications !== undefined || models !== undefined;
  }

  permits(scope: Scope): boolean {
    return this.scopes.has(scope) || this.scopes.has('admin');
  }

  covers(kind: TargetKind, name: string): boolean {
    return !this.isLimited || this.targets[kind].has(name);
  }

  isExpired(nowMs: number): boolean {
    return this.record.expiresMs !== undefined && nowMs >= this.record.expiresMs;
  }

  isLive(nowMs: number): boolean {
    return !this.removed && !this.isExpired(nowMs);
  }

  /**
   * For what lasts: `onEnd` is called once when the key is removed or expires.
   * @returns the release, which must be called when it lasts no longer
   */
  hold(onEnd: () => void): () => void {
    this.holders.add(onEnd);
    if (this.holders.size === 1) this.watchExpiry();
    return () => {
      this.holders.delete(onEnd);
      if (this.holders.size === 0) clearTimeout(this.timer);
    };
  }

  /** Its removal: everything that holds it ends. */
  end(): void {
    this.removed = true;
    this.endHolders();
  }

  private endHolders(): void {
    clearTimeout(this.timer);
    const holders = [...this.holders];
    this.holders.clear();
    for (const onEnd of holders) onEnd();
  }

  private watchExpiry(): void {
    const { expiresMs } = this.record;
    if (expiresMs === undefined) return;
    const leftMs = expiresMs - Date.now();
    const onTimer = () => (this.isExpired(Date.now()) ? this.endHolders() : this.watchExpiry());
    this.timer = setTimeout(onTimer, Math.max(0, Math.min(leftMs, LONGEST_TIMER_MS)));
    this.timer.unref();
  }
}
