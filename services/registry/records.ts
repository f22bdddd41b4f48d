import type { InputForm, InputRange, InputType, LaunchClass } from '../../containers/protocol/index.js';
import type { ContainerSource as RunnableSource } from '../../containers/runtime/index.js';
import type { Json, LossChoice } from '../../selection/index.js';
import type { PolicyFile, PolicyTraits } from '../policyFiles/index.js';

/** What management keeps. All of it survives a restart. */
export interface ApplicationRecord {
  readonly name: string;
  readonly inputType: InputType;
  /** Answered when no prediction is there in time: JSON text or any other string. */
  readonly defaultOutput: string;
  readonly latencyObjectiveUs: number;
  /** Queries that do not say otherwise get an error in place of the default output. */
  readonly strict?: boolean;
  readonly policy: PolicyChoice;
  /** Queries without an answer that it may have; more are answered at once. Any number when undefined. */
  readonly maxInFlight?: number;
  /** How much the launches for its queries may be made to wait by others; absent: as its models say. */
  readonly launchClass?: LaunchClass;
  /** Contexts that were not used for so many days are forgotten; 30 unless given. */
  readonly contextTtlDays?: number;
  /** By which labels judge its models; absent: right or wrong. */
  readonly loss?: LossChoice;
  /** From 0 to 1: what it costs a model to answer after the query's time, whatever it says; absent: nothing. */
  readonly lossOfLate?: number;
  /** That its policy or its loss comes from. */
  readonly policyFile?: PolicyFileChoice;
  /** In place of `loss`: one that the file exports. */
  readonly fileLoss?: string;
}

/** A policy file, which the store keeps by its hash. */
export interface PolicyFileChoice {
  /** Of the file, for people. */
  readonly name: string;
  readonly hash: string;
  /** As they were found when it was registered. */
  readonly traits: PolicyTraits;
}

export interface PolicyChoice {
  readonly name: string;
  readonly parameters: Json;
}

/** One version of a model. */
export interface ModelRecord {
  readonly name: string;
  readonly version: string;
  readonly inputType: InputType;
  /** Elements an input must have; undefined when any length will do. */
  readonly inputLength?: number | undefined;
  /** Of every element; undefined when any will do. */
  readonly inputRange?: InputRange;
  /** Of strings that are rows: the columns of which each is a JSON list. */
  readonly inputColumns?: readonly string[];
  readonly labels: readonly string[];
  /** What runs it. */
  readonly container: ContainerSource;
  readonly batching: BatchingChoice;
  /** Of its files when it was registered: the hash of `sourceContent`. Absent where there are none, and of versions of older programs. */
  readonly contentHash?: string;
  /** A new replica serves its first query without having answered anything before. */
  readonly warmUp?: false;
}

/** One that this server runs. */
export type HostedModel = ModelRecord & {
  readonly container: RunnableSource;
};

/** One whose containers dial in. */
export type ExternalModel = ModelRecord & { readonly container: ExternalSource };

/** What a version takes beside what its registration says. */
export type DeclaredForm = Omit<InputForm, 'type'>;

/** How many replicas a model version runs; a record of its own, so that scaling leaves the version as it is. */
export interface ModelScale {
  /** Replicas that are to run now. */
  readonly replicas: number;
  /** Limits of the autoscaler; without them the number stays what it is. */
  readonly range?: ReplicaRange;
  /** Of a version that was unloaded: what it goes back to. */
  readonly resting?: Omit<ModelScale, 'resting'>;
}

export interface ReplicaRange {
  readonly minimum: number;
  /** Above the minimum. */
  readonly maximum: number;
}

export type ContainerSource = RunnableSource | ExternalSource;

/** Run by somebody else: its containers dial in, as Clipper's do. In a replay something synthetic stands for it. */
export interface ExternalSource {
  readonly kind: 'external';
  readonly containerName: string;
  readonly modelDataPath: string;
}

/** How large a replica's batches get (Clipper 4.3.1): two that adapt to the latency objective, and two that do not. */
export type BatchingChoice =
  | ({ readonly strategy: 'aimd' } & BatchDelay)
  | ({ readonly strategy: 'quantile' } & BatchDelay)
  | ({ readonly strategy: 'fixed'; readonly maxBatchSize: number } & BatchDelay)
  /** One input after the other. */
  | { readonly strategy: 'none' };

/** Delayed batching (Clipper 4.3.2). */
export interface BatchDelay {
  /** A batch that is not full waits so long for company, as far as its deadlines allow; not at all by default. */
  readonly delayUs?: number;
}

/**
 * A version that is tried beside the current one of its model, with a share of the model's queries that grows. The last of each model
 * is kept.
 */
export interface CanaryRecord {
  readonly model: string;
  readonly candidate: string;
  readonly incumbent: string;
  /** Grows with each candidate of the model: what was seen of one is not another's. */
  readonly number: number;
  /** Of policy `canary`. */
  readonly parameters: Json;
  /** Absent: it is being tried. */
  readonly end?: CanaryEnd;
}

export interface CanaryEnd {
  readonly kind: 'promoted' | 'withdrawn' | 'aborted';
  readonly reason: string;
}

export interface RegistryChange {
  readonly kind: 'application' | 'model' | 'currentVersion' | 'links' | 'scale' | 'declaration' | 'canary';
  /** The application's or model's name. */
  readonly name: string;
}

/** The query path's view: answered from memory, never waiting. */
export interface RegistryView {
  application(name: string): ApplicationRecord | undefined;
  applications(): readonly ApplicationRecord[];
  /** The application's linked models, each at its current version, in order of linking. */
  linkedModels(application: string): readonly ModelRecord[];
  model(name: string, version: string): ModelRecord | undefined;
  models(): readonly ModelRecord[];
  currentVersion(name: string): string | undefined;
  /** The last version of the model that was tried beside another, or is. */
  canary(model: string): CanaryRecord | undefined;
  /** What a version takes, as far as its registration or a replica of it has said. */
  inputForm(model: ModelRecord): InputForm;
  /** false: of a module that has never run, so that nobody can tell yet whether it takes an input. */
  isFormKnown(model: ModelRecord): boolean;
  /** The text of a policy file; undefined: it is not there. */
  policyFile?(hash: string): PolicyFile | undefined;
  /** Called after each change; returns the unsubscriber. */
  watch(listener: (change: RegistryChange) => void): () => void;
}
