import type { InputForm } from '../../containers/protocol/index.js';
import type { ReplicaGroup } from '../batching/index.js';
import type { ModelRecord } from '../registry/index.js';
import type { AnsweringModel } from './types.js';
import type { VersionTrial } from './versionTrial.js';

/** A model version that can be asked: its replicas, its number in the cache, and its part in answers, made once. */
export class ServedModel {
  readonly fresh: AnsweringModel;
  readonly fromCache: AnsweringModel;
  /** The `models` of an answer that this model gave alone. */
  readonly onlyFresh: readonly AnsweringModel[];
  readonly onlyFromCache: readonly AnsweringModel[];
  /** Of another version beside this one. */
  trial: VersionTrial | undefined = undefined;

  constructor(
    readonly record: ModelRecord,
    readonly number: number,
    readonly replicas: ReplicaGroup,
    /** What it takes: a replica may say more of it than the record. */
    public form: InputForm,
  ) {
    const { name, version } = record;
    this.fresh = Object.freeze({ name, version, cached: false });
    this.fromCache = Object.freeze({ name, version, cached: true });
    this.onlyFresh = Object.freeze([this.fresh]);
    this.onlyFromCache = Object.freeze([this.fromCache]);
  }
}
