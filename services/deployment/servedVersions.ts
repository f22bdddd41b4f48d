import type { InputForm } from '../../containers/protocol/index.js';
import type { PolicyFile } from '../policyFiles/index.js';
import type {
  ApplicationRecord,
  CanaryRecord,
  ModelRecord,
  RegistryChange,
  RegistryView,
} from '../registry/index.js';

/** A registry that remembers which versions were current before. */
export interface VersionHistory extends RegistryView {
  /** Latest first, without the current one. */
  versionsBefore(name: string): readonly string[];
  linkedNames(application: string): readonly string[];
}

interface Serving {
  readonly version: string;
  /** It has taken over; false: it is named for want of another. */
  readonly wasUp: boolean;
}

/**
 * The registry as the query path sees it: a model is at its current version from the moment that this version can serve.
 * Until then the version that served before goes on, and for good when the new one never comes up.
 * A version that once took over stays, also while its replicas are lost: its model does not change back and forth.
 */
export class ServedVersions implements RegistryView {
  /** By model. */
  private readonly serving = new Map<string, Serving>();
  private readonly listeners = new Set<(change: RegistryChange) => void>();
  private readonly unwatch: () => void;

  /** @param isUp whether a version can serve. */
  constructor(
    private readonly registry: VersionHistory,
    private readonly isUp: (name: string, version: string) => boolean,
  ) {
    for (const { name } of registry.models()) this.settle(name);
    this.unwatch = registry.watch((change) => {
      if (change.kind === 'model' || change.kind === 'currentVersion') this.settle(change.name);
      this.tell(change);
    });
  }

  /** One of the model's versions can serve now, or could before. */
  onReady(name: string): void {
    if (this.settle(name)) this.tell({ kind: 'currentVersion', name });
  }

  application(name: string): ApplicationRecord | undefined {
    return this.registry.application(name);
  }

  applications(): readonly ApplicationRecord[] {
    return this.registry.applications();
  }

  linkedModels(application: string): readonly ModelRecord[] {
    return this.registry
      .linkedNames(application)
      .flatMap((name) => this.registry.model(name, this.currentVersion(name) ?? '') ?? []);
  }

  model(name: string, version: string): ModelRecord | undefined {
    return this.registry.model(name, version);
  }

  models(): readonly ModelRecord[] {
    return this.registry.models();
  }

  /** The version that serves. */
  currentVersion(name: string): string | undefined {
    return this.serving.get(name)?.version;
  }

  canary(model: string): CanaryRecord | undefined {
    return this.registry.canary(model);
  }

  inputForm(model: ModelRecord): InputForm {
    return this.registry.inputForm(model);
  }

  isFormKnown(model: ModelRecord): boolean {
    return this.registry.isFormKnown(model);
  }

  policyFile(hash: string): PolicyFile | undefined {
    return this.registry.policyFile?.(hash);
  }

  watch(listener: (change: RegistryChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.unwatch();
  }

  /** Chooses anew; true when another version serves now. */
  private settle(name: string): boolean {
    const before = this.serving.get(name);
    const current = this.registry.currentVersion(name);
    if (current === undefined) {
      this.serving.delete(name);
      return before !== undefined;
    }
    const now = this.choice(name, current, before);
    this.serving.set(name, now);
    return now.version !== before?.version;
  }

  private choice(name: string, current: string, before: Serving | undefined): Serving {
    if (before?.version === current && before.wasUp) return before;
    if (this.isUp(name, current)) return { version: current, wasUp: true };
    const served =
      before?.wasUp === true && this.registry.model(name, before.version) !== undefined ? before : undefined;
    if (served !== undefined && this.isUp(name, served.version)) return served;
    // After a restart, or when the version that served is lost too.
    const standIn = this.registry.versionsBefore(name).find((version) => this.isUp(name, version));
    if (standIn !== undefined) return { version: standIn, wasUp: true };
    return served ?? { version: current, wasUp: false };
  }

  private tell(change: RegistryChange): void {
    for (const listener of [...this.listeners]) listener(change);
  }
}
