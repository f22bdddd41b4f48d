import type { LaunchClass } from '../../containers/protocol/index.js';
import { policyNamed } from '../../selection/index.js';
import { isAbove, ReplicaGroup, type BatchingOptions } from '../batching/index.js';
import {
  ContextMemory,
  DEFAULT_CONTEXT_LIMITS,
  SelectionStates,
  type ContextLimits,
} from '../feedback/index.js';
import { FILE_POLICY, HostedPolicy } from '../policyFiles/index.js';
import type { ApplicationRecord, ModelRecord, RegistryView } from '../registry/index.js';
import type { Store } from '../store/index.js';
import { ApplicationLoad } from './applicationLoad.js';
import type { ContextOptions, PredictionEngineOptions } from './engineOptions.js';
import type { PredictionObserver } from './observer.js';
import { ServedApplication } from './servedApplication.js';
import { ServedModel } from './servedModel.js';
import { VersionTrial, type VersionTrialOptions } from './versionTrial.js';

export interface DirectoryOptions {
  readonly registry: RegistryView;
  readonly store: Store;
  /** Of draws between versions, and of policies from files. */
  readonly seed: number;
  readonly onTrialEnded: VersionTrialOptions['onEnded'];
  readonly batching: BatchingOptions;
  readonly contexts: ContextOptions;
  readonly onWriteFailed: (key: string, message: string) => void;
  /** Of `PredictionEngineOptions`. */
  readonly policyHere?: PredictionEngineOptions['policyHere'] | undefined;
  readonly observer: Pick<PredictionObserver, 'onPolicyFault' | 'onPolicyPrinted'>;
  /** A model version is gone, its predictions are to be forgotten; told again once its replicas have answered what they had. */
  readonly onModelGone: (model: ServedModel) => void;
}

/**
 * The registry as the query path wants it: every name resolved to what serves it. Follows the registry's changes while
 * queries run; a query keeps the models that it was given.
 */
export class Directory {
  private readonly applicationsByName = new Map<string, ServedApplication>();
  /** name → version → model. */
  private readonly modelsByName = new Map<string, Map<string, ServedModel>>();
  private readonly contextMemory: ContextMemory;
  /** By model. */
  private readonly trialsByModel = new Map<string, VersionTrial>();
  private nextNumber = 1;
  private readonly unwatch: () => void;

  constructor(private readonly options: DirectoryOptions) {
    this.contextMemory = new ContextMemory(options.contexts.memoryBytes);
    this.refresh();
    this.unwatch = options.registry.watch(() => this.refresh());
  }

  application(name: string): ServedApplication | undefined {
    return this.applicationsByName.get(name);
  }

  applications(): IterableIterator<ServedApplication> {
    return this.applicationsByName.values();
  }

  model(name: string, version: string): ServedModel | undefined {
    return this.modelsByName.get(name)?.get(version);
  }

  *models(): IterableIterator<ServedModel> {
    for (const versions of this.modelsByName.values()) yield* versions.values();
  }

  trials(): IterableIterator<VersionTrial> {
    return this.trialsByModel.values();
  }

  close(): void {
    this.unwatch();
    for (const trial of this.trialsByModel.values()) trial.close();
    for (const application of this.applicationsByName.values()) {
      application.states.close();
      application.hosted?.close();
    }
  }

  private refresh(): void {
    const { registry } = this.options;
    this.refreshModels(registry.models());
    this.refreshTrials();
    const present = new Set<string>();
    for (const record of registry.applications()) {
      present.add(record.name);
      this.refreshApplication(record);
    }
    for (const [name, application] of this.applicationsByName) {
      if (present.has(name)) continue;
      this.applicationsByName.delete(name);
      application.states.erase();
      application.hosted?.close();
    }
    this.refreshObjectives();
  }

  private refreshModels(records: readonly ModelRecord[]): void {
    const present = new Set<ServedModel>();
    for (const record of records) {
      let versions = this.modelsByName.get(record.name);
      if (versions === undefined) {
        versions = new Map();
        this.modelsByName.set(record.name, versions);
      }
      const form = this.options.registry.inputForm(record);
      let model = versions.get(record.version);
      if (model === undefined || !same(model.record, record)) {
        const replicas = new ReplicaGroup(record, this.options.batching);
        model = new ServedModel(record, this.nextNumber++, replicas, form);
        const replaced = versions.get(record.version);
        versions.set(record.version, model);
        if (replaced !== undefined) this.retire(replaced);
      }
      model.form = form;
      if (this.options.registry.isFormKnown(record)) model.replicas.learnForm(form);
      present.add(model);
    }
    for (const model of [...this.models()]) {
      if (present.has(model)) continue;
      const versions = this.modelsByName.get(model.record.name);
      versions?.delete(model.record.version);
      if (versions?.size === 0) this.modelsByName.delete(model.record.name);
      this.retire(model);
    }
  }

  /** Of each model the version that is tried, on the version that it is tried beside. */
  private refreshTrials(): void {
    const { registry, store, seed, onTrialEnded, onWriteFailed } = this.options;
    for (const name of new Set([...this.modelsByName.keys(), ...this.trialsByModel.keys()])) {
      const record = registry.canary(name);
      const isOver = record === undefined || record.end !== undefined;
      const incumbent = isOver ? undefined : this.model(name, record.incumbent);
      const candidate = isOver ? undefined : this.model(name, record.candidate);
      const present = this.trialsByModel.get(name);
      const isSame =
        present !== undefined &&
        present.record.number === record?.number &&
        present.candidate === candidate &&
        incumbent?.trial === present;
      if (isSame) continue;
      if (present !== undefined) this.endTrial(present);
      if (record === undefined || incumbent === undefined || candidate === undefined) continue;
      const options = { record, incumbent, candidate, store, seed, onWriteFailed, onEnded: onTrialEnded };
      incumbent.trial = new VersionTrial(options);
      this.trialsByModel.set(name, incumbent.trial);
    }
  }

  private endTrial(trial: VersionTrial): void {
    trial.close();
    this.trialsByModel.delete(trial.record.model);
    for (const model of this.models()) if (model.trial === trial) model.trial = undefined;
  }

  private retire(model: ServedModel): void {
    this.options.onModelGone(model);
    // Nobody finds it any more, and what its replicas have is answered: predictions that nobody will ask for again.
    model.replicas.retireAll(() => this.options.onModelGone(model));
  }

  private refreshApplication(record: ApplicationRecord): void {
    const models = new Map<string, ServedModel>();
    for (const linked of this.options.registry.linkedModels(record.name)) {
      const model = this.model(linked.name, linked.version);
      if (model !== undefined) models.set(linked.name, model);
    }
    const arms = [...models.keys()];
    const present = this.applicationsByName.get(record.name);
    let application = present;
    if (application === undefined || !same(application.record, record)) {
      const hosted = this.hostedOf(record, present);
      const states = this.statesOf(record, arms, present, hosted);
      // What is in flight stays in flight, whatever the settings.
      const load = present?.load ?? new ApplicationLoad();
      application = new ServedApplication(record, states, load, hosted);
      this.applicationsByName.set(record.name, application);
    } else if (!sameList([...application.models.keys()], arms)) {
      application.states.refit(arms, record.policy.parameters);
    }
    application.models = models;
  }

  /** The process of its policy file, the same as long as the file is. */
  private hostedOf(
    { name, policyFile }: ApplicationRecord,
    present: ServedApplication | undefined,
  ): HostedPolicy | undefined {
    if (policyFile !== undefined && present?.record.policyFile?.hash === policyFile.hash)
      return present.hosted;
    present?.hosted?.close();
    if (policyFile === undefined) return undefined;
    const { observer, registry, seed } = this.options;
    return new HostedPolicy({
      file: registry.policyFile?.(policyFile.hash) ?? {
        name: policyFile.name,
        text: `throw new Error('the store does not have this file: set it again')`,
      },
      traits: policyFile.traits,
      seed,
      onFault: (fault) => observer.onPolicyFault(name, fault),
      onDropped: () => this.application(name)?.states.settle(),
      onPrinted: (text) => observer.onPolicyPrinted(name, text),
    });
  }

  /** What is learned stays, with other parameters, as long as the policy does. */
  private statesOf(
    record: ApplicationRecord,
    arms: readonly string[],
    present: ServedApplication | undefined,
    hosted: HostedPolicy | undefined,
  ): SelectionStates {
    const { name, parameters } = record.policy;
    if (present?.record.policy.name === name && (name !== FILE_POLICY || present.hosted === hosted)) {
      present.states.refit(arms, parameters);
      present.states.setLimits(this.contextLimits(record));
      return present.states;
    }
    present?.states.close();
    return new SelectionStates({
      application: record.name,
      policy:
        this.options.policyHere?.(record.name) ??
        (name === FILE_POLICY && hosted !== undefined ? hosted.policy : policyNamed(name)),
      parameters,
      arms,
      store: this.options.store,
      onWriteFailed: this.options.onWriteFailed,
      memory: this.contextMemory,
      limits: this.contextLimits(record),
    });
  }

  private contextLimits({ contextTtlDays }: ApplicationRecord): ContextLimits {
    return {
      most: this.options.contexts.most ?? DEFAULT_CONTEXT_LIMITS.most,
      ttlDays: contextTtlDays ?? DEFAULT_CONTEXT_LIMITS.ttlDays,
    };
  }

  /** A model's batches must suit the most impatient of the applications that use it, and leave room for the highest class of theirs. */
  private refreshObjectives(): void {
    const objectives = new Map<ServedModel, number>();
    const classes = new Map<ServedModel, LaunchClass>();
    for (const application of this.applicationsByName.values()) {
      for (const model of askedOf(application)) {
        const soonest = Math.min(objectives.get(model) ?? Infinity, application.objectiveNs);
        objectives.set(model, soonest);
        const { launchClass = model.replicas.launchClass } = application.record;
        const highest = classes.get(model);
        if (highest === undefined || isAbove(launchClass, highest)) classes.set(model, launchClass);
      }
    }
    for (const model of this.models()) {
      model.replicas.setObjectiveNs(objectives.get(model) ?? Infinity);
      model.replicas.setHighestClass(classes.get(model) ?? model.replicas.launchClass);
    }
  }
}

/** Its models, with the versions that are tried beside them. */
function askedOf({ models }: ServedApplication): ServedModel[] {
  return [...models.values()].flatMap((model) =>
    model.trial === undefined ? [model] : [model, model.trial.candidate],
  );
}

/** Records are plain data; the registry may hand out new objects for unchanged ones. */
function same(a: object, b: object): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
