import type { ReplicaStatus, ServedVersions } from './deployment/index.js';
import type { EventLog, Happening } from './events/index.js';
import type { PolicyFault } from './policyFiles/index.js';
import type { ModelRecord, ModelScale } from './registry/index.js';

/** What a server does by itself, and what happens to it, as far as a mark on a chart explains something. */
export class AutomaticEvents {
  /** The version of each model that answers. */
  private readonly serving = new Map<string, string>();

  /** @param isTold false: another server tells the same */
  constructor(
    private readonly events: EventLog,
    private readonly isTold: () => boolean,
  ) {}

  onScaled({ name: model, version }: ModelRecord, before: ModelScale, after: ModelScale): void {
    this.note('autoscaler', { verb: 'scale', about: { model, version }, before, after });
  }

  onLost({ model, version, replica, lastFailure: reason }: ReplicaStatus): void {
    this.note('server', { verb: 'replica_lost', about: { model, version, replica }, after: { reason } });
  }

  onPolicyFault(application: string, { kind, message: reason }: PolicyFault): void {
    this.note('server', { verb: 'policy_failed', about: { application }, after: { kind, reason } });
  }

  /** From now on: another version takes over once a replica of it is up, or since the one that answered is lost. */
  watch(served: ServedVersions): void {
    for (const { name } of served.models()) this.remember(name, served.currentVersion(name));
    served.watch(({ kind, name: model }) => {
      if (kind !== 'currentVersion' && kind !== 'model') return;
      const before = this.serving.get(model);
      const version = served.currentVersion(model);
      this.remember(model, version);
      if (before === undefined || version === undefined || version === before) return;
      this.note('server', {
        verb: 'version_took_over',
        about: { model, version },
        before: { serving_version: before },
        after: { serving_version: version },
      });
    });
  }

  private remember(model: string, version: string | undefined): void {
    if (version === undefined) this.serving.delete(model);
    else this.serving.set(model, version);
  }

  private note(part: string, happening: Happening): void {
    if (this.isTold()) this.events.noteAutomatic(part, happening);
  }
}
