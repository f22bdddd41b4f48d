import type { InputForm } from '../../containers/protocol/index.js';
import type { Json } from '../../selection/index.js';
import type { PolicyFile } from '../policyFiles/index.js';
import { storeKeyParts, type Store, type StoreChange } from '../store/index.js';
import { hasOwnProcess } from './hosted.js';
import { inputFormOf } from './inputForms.js';
import type {
  ApplicationRecord,
  CanaryRecord,
  DeclaredForm,
  ModelRecord,
  ModelScale,
  RegistryChange,
  RegistryView,
} from './records.js';

/** Everything the registry keeps is under this prefix. */
export const REGISTRY_PREFIX = 'registry/';

const ONE_REPLICA: ModelScale = { replicas: 1 };

/** What the registry holds, decoded from the store once a change. Maps only: no name reaches an object's prototype. */
export class RegistryImage implements RegistryView {
  private readonly applicationsByName = new Map<string, ApplicationRecord>();
  /** By name, then by version, in order of the store's keys. */
  private readonly modelsByName = new Map<string, Map<string, ModelRecord>>();
  private readonly currentVersions = new Map<string, string>();
  /** Versions that were current before, latest first. */
  private readonly formerVersions = new Map<string, readonly string[]>();
  /** By name, then by version; only what was ever set. */
  private readonly scales = new Map<string, Map<string, ModelScale>>();
  /** What inputs must be, by name and version, where not the registration said it but a replica or the files. */
  private readonly declared = new Map<string, Map<string, DeclaredForm>>();
  /** By model. */
  private readonly canaries = new Map<string, CanaryRecord>();
  private readonly links = new Map<string, readonly string[]>();
  /** By hash. */
  private readonly policyFiles = new Map<string, PolicyFile>();
  private readonly listeners = new Set<(change: RegistryChange) => void>();
  private readonly unwatch: () => void;

  constructor(store: Store) {
    for (const { key, entry } of store.list(REGISTRY_PREFIX)) this.apply(key, entry.value);
    this.unwatch = store.watch(REGISTRY_PREFIX, (change) => this.onChange(change));
  }

  application(name: string): ApplicationRecord | undefined {
    return this.applicationsByName.get(name);
  }

  applications(): readonly ApplicationRecord[] {
    return [...this.applicationsByName.values()];
  }

  linkedNames(application: string): readonly string[] {
    return this.links.get(application) ?? [];
  }

  linkedModels(application: string): readonly ModelRecord[] {
    const models: ModelRecord[] = [];
    for (const name of this.linkedNames(application)) {
      const version = this.currentVersions.get(name);
      const model = version === undefined ? undefined : this.model(name, version);
      if (model !== undefined) models.push(model);
    }
    return models;
  }

  /** Applications that the model is linked to. */
  applicationsOf(model: string): readonly string[] {
    return [...this.links].filter(([, names]) => names.includes(model)).map(([application]) => application);
  }

  model(name: string, version: string): ModelRecord | undefined {
    return this.modelsByName.get(name)?.get(version);
  }

  models(): readonly ModelRecord[] {
    return [...this.modelsByName.values()].flatMap((versions) => [...versions.values()]);
  }

  versions(name: string): readonly ModelRecord[] {
    return [...(this.modelsByName.get(name)?.values() ?? [])];
  }

  currentVersion(name: string): string | undefined {
    return this.currentVersions.get(name);
  }

  /** Versions that were current before and are registered still, latest first; the current one is not among them. */
  versionsBefore(name: string): readonly string[] {
    const current = this.currentVersion(name);
    const former = this.formerVersions.get(name) ?? [];
    return former.filter((version) => version !== current && this.model(name, version) !== undefined);
  }

  canary(model: string): CanaryRecord | undefined {
    return this.canaries.get(model);
  }

  allCanaries(): readonly CanaryRecord[] {
    return [...this.canaries.values()];
  }

  scale(name: string, version: string): ModelScale {
    return this.scales.get(name)?.get(version) ?? ONE_REPLICA;
  }

  inputForm(model: ModelRecord): InputForm {
    return { ...this.declaredForm(model), ...inputFormOf(model) };
  }

  /** undefined: nothing was ever said. */
  declaredForm({ name, version }: ModelRecord): DeclaredForm | undefined {
    return this.declared.get(name)?.get(version);
  }

  isFormKnown(model: ModelRecord): boolean {
    const { container, inputLength } = model;
    return !hasOwnProcess(container) || inputLength !== undefined || this.declaredForm(model) !== undefined;
  }

  policyFile(hash: string): PolicyFile | undefined {
    return this.policyFiles.get(hash);
  }

  policyFileHashes(): readonly string[] {
    return [...this.policyFiles.keys()];
  }

  watch(listener: (change: RegistryChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.unwatch();
  }

  private onChange({ key, value }: StoreChange): void {
    const change = this.apply(key, value?.value);
    if (change !== undefined) for (const listener of [...this.listeners]) listener(change);
  }

  /** Takes over one key of the store. Its values are the registry's own writes, so their shape is trusted. */
  private apply(key: string, value: Json | undefined): RegistryChange | undefined {
    const [, kind, name, version] = storeKeyParts(key);
    switch (kind) {
      case 'application':
        if (value === undefined) this.applicationsByName.delete(name);
        else this.applicationsByName.set(name, value as unknown as ApplicationRecord);
        return { kind: 'application', name };
      case 'model':
        setIn(this.modelsByName, name, version, value as unknown as ModelRecord | undefined);
        return { kind: 'model', name };
      case 'current':
        if (value === undefined) this.currentVersions.delete(name);
        else this.currentVersions.set(name, value as string);
        return { kind: 'currentVersion', name };
      case 'former':
        if (value === undefined) this.formerVersions.delete(name);
        else this.formerVersions.set(name, value as readonly string[]);
        return undefined;
      case 'scale':
        setIn(this.scales, name, version, value as unknown as ModelScale | undefined);
        return { kind: 'scale', name };
      case 'declared':
        setIn(this.declared, name, version, declaredFormIn(value as number | DeclaredForm | undefined));
        return { kind: 'declaration', name };
      case 'policyFile':
        if (value === undefined) this.policyFiles.delete(name);
        else this.policyFiles.set(name, value as unknown as PolicyFile);
        return undefined;
      case 'canary':
        if (value === undefined) this.canaries.delete(name);
        else this.canaries.set(name, value as unknown as CanaryRecord);
        return { kind: 'canary', name };
      case 'links':
        if (value === undefined) this.links.delete(name);
        else this.links.set(name, value as readonly string[]);
        return { kind: 'links', name };
      default:
        return undefined;
    }
  }
}

/** Earlier programs kept the length alone. */
function declaredFormIn(value: number | DeclaredForm | undefined): DeclaredForm | undefined {
  return typeof value === 'number' ? { length: value } : value;
}

function setIn<T>(
  maps: Map<string, Map<string, T>>,
  name: string,
  version: string,
  value: T | undefined,
): void {
  const versions = maps.get(name) ?? new Map<string, T>();
  if (value === undefined) versions.delete(version);
  else versions.set(version, value);
  if (versions.size === 0) maps.delete(name);
  else maps.set(name, versions);
}
