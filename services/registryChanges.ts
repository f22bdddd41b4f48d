import type { Change } from './dashboard/index.js';
import type { ApplicationRecord, Registry } from './registry/index.js';

type Told = Omit<Change, 'at'>;
type Source = Pick<
  Registry,
  | 'application'
  | 'applications'
  | 'linkedNames'
  | 'models'
  | 'currentVersion'
  | 'versionsBefore'
  | 'scale'
  | 'watch'
>;

/** A model as it was before the change. */
interface Known {
  readonly replicas: ReadonlyMap<string, number>;
  readonly current: string | undefined;
  readonly before: readonly string[];
}

/** Says what every change of the registry was, whoever made it: the registry itself says whose record is another one. */
export class RegistryChanges {
  private readonly applications = new Map<string, ApplicationRecord>();
  private readonly links = new Map<string, readonly string[]>();
  private readonly models = new Map<string, Known>();
  private readonly unwatch: () => void;

  constructor(
    private readonly registry: Source,
    private readonly tell: (change: Told) => void,
  ) {
    for (const of of registry.applications()) {
      this.applications.set(of.name, of);
      this.links.set(of.name, registry.linkedNames(of.name));
    }
    for (const { name } of registry.models())
      if (!this.models.has(name)) this.models.set(name, this.known(name));
    this.unwatch = registry.watch(({ kind, name }) => {
      if (kind === 'application') this.onApplication(name);
      else if (kind === 'links') this.onLinks(name);
      else if (kind !== 'declaration') this.onModel(name);
    });
  }

  close(): void {
    this.unwatch();
  }

  private onApplication(what: string): void {
    const before = this.applications.get(what);
    const after = this.registry.application(what);
    const tell = (text: string): void => this.tell({ kind: 'application', what, text });
    if (after === undefined) {
      this.applications.delete(what);
      if (before !== undefined) tell('deleted');
      return;
    }
    this.applications.set(what, after);
    if (before === undefined) {
      tell('registered');
      return;
    }
    const changed = (Object.keys({ ...before, ...after }) as (keyof ApplicationRecord)[]).filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
    if (changed.length > 0)
      tell(changed.map((field) => `${field} ${textOf(before[field])} → ${textOf(after[field])}`).join(', '));
  }

  private onLinks(what: string): void {
    const before = this.links.get(what) ?? [];
    const after = this.registry.application(what) === undefined ? [] : this.registry.linkedNames(what);
    if (after.length === 0) this.links.delete(what);
    else this.links.set(what, after);
    const added = after.filter((model) => !before.includes(model)).map((model) => `linked ${model}`);
    const gone = before.filter((model) => !after.includes(model)).map((model) => `unlinked ${model}`);
    const words = [...added, ...gone];
    if (words.length > 0) this.tell({ kind: 'application', what, text: words.join(', ') });
  }

  private onModel(what: string): void {
    const before = this.models.get(what);
    const after = this.known(what);
    if (after.replicas.size === 0) this.models.delete(what);
    else this.models.set(what, after);
    for (const [version, replicas] of after.replicas) {
      const had = before?.replicas.get(version);
      if (had === undefined) this.tell({ kind: 'deploy', what, text: `version ${version} deployed` });
      else if (had !== replicas)
        this.tell({ kind: 'scale', what, text: `version ${version}: ${had} → ${replicas} replicas` });
    }
    for (const version of before?.replicas.keys() ?? []) {
      if (!after.replicas.has(version))
        this.tell({ kind: 'remove', what, text: `version ${version} deleted` });
    }
    if (before?.current === undefined || after.current === undefined || before.current === after.current)
      return;
    const isRollback = before.before.includes(after.current);
    this.tell({
      kind: isRollback ? 'rollback' : 'switch',
      what,
      text: `version ${before.current} → ${after.current}${isRollback ? ', as before' : ''}`,
    });
  }

  private known(name: string): Known {
    const { registry } = this;
    const versions = registry.models().filter((of) => of.name === name);
    return {
      replicas: new Map(versions.map(({ version }) => [version, registry.scale(name, version).replicas])),
      current: registry.currentVersion(name),
      before: registry.versionsBefore(name),
    };
  }
}

/** As people read it, and no longer than fits a line. */
function textOf(value: unknown): string {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
