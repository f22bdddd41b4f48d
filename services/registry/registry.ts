import type { InputForm } from '../../containers/protocol/index.js';
import { checkLoss, checkPolicy, PolicyError, type Json } from '../../selection/index.js';
import { createHash } from 'node:crypto';
import { FILE_POLICY, type PolicyFile } from '../policyFiles/index.js';
import { ServiceError, type ErrorCode } from '../errors/index.js';
import { notKept, storeKey, storeKeyParts, type Store, type StoreOutcome } from '../store/index.js';
import { inputClash, inputFormOf, type NamedForm } from './inputForms.js';
import { checkApplicationName, checkName } from './names.js';
import type {
  ApplicationRecord,
  CanaryEnd,
  CanaryRecord,
  DeclaredForm,
  ModelRecord,
  ModelScale,
  RegistryChange,
  RegistryView,
} from './records.js';
import { RegistryImage } from './registryImage.js';

/** Of one model version. Each kernel model's is a context on a GPU, each process a Node. */
export const MOST_REPLICAS = 64;

/** Versions that are remembered as current before: after a restart they may have to stand in. */
const MOST_FORMER_VERSIONS = 16;

/**
 * Applications, models with their versions, and links, kept in the store. Each change checks its rules and is one
 * compare-and-set, so that of several equal ones at the same time exactly one succeeds; its promise settles when the
 * change is durable. Rejections are ServiceErrors.
 */
export class Registry implements RegistryView {
  private readonly image: RegistryImage;

  constructor(private readonly store: Store) {
    this.image = new RegistryImage(store);
  }

  /**
   * Before a change is judged by what is registered: what others registered lately may not be known here.
   * @throws ServiceError `store_failed` while others are not heard
   */
  requireCurrent(): void {
    const fault = this.store.staleness();
    if (fault !== undefined) throw notKept(fault);
  }

  application(name: string): ApplicationRecord | undefined {
    return this.image.application(name);
  }

  applications(): readonly ApplicationRecord[] {
    return this.image.applications();
  }

  linkedModels(application: string): readonly ModelRecord[] {
    return this.image.linkedModels(application);
  }

  /** Names of the linked models, in order of linking. */
  linkedNames(application: string): readonly string[] {
    return this.image.linkedNames(application);
  }

  model(name: string, version: string): ModelRecord | undefined {
    return this.image.model(name, version);
  }

  models(): readonly ModelRecord[] {
    return this.image.models();
  }

  currentVersion(name: string): string | undefined {
    return this.image.currentVersion(name);
  }

  /** Versions that were current before and are registered still, latest first; the current one is not among them. */
  versionsBefore(name: string): readonly string[] {
    return this.image.versionsBefore(name);
  }

  /** One replica, unless something else was set. */
  scale(name: string, version: string): ModelScale {
    return this.image.scale(name, version);
  }

  inputForm(model: ModelRecord): InputForm {
    return this.image.inputForm(model);
  }

  isFormKnown(model: ModelRecord): boolean {
    return this.image.isFormKnown(model);
  }

  policyFile(hash: string): PolicyFile | undefined {
    return this.image.policyFile(hash);
  }

  watch(listener: (change: RegistryChange) => void): () => void {
    return this.image.watch(listener);
  }

  close(): void {
    this.image.close();
  }

  /**
   * Errors: `invalid_name`, `invalid_policy`, `application_exists`.
   * @param policyFile that the record names, unless it is kept
   */
  async addApplication(record: ApplicationRecord, policyFile?: PolicyFile): Promise<void> {
    checkApplicationName(record.name, 'name');
    checkedPolicy(record);
    checkedLoss(record.loss);
    if (this.image.application(record.name) === undefined) await this.keepPolicyFile(policyFile);
    const taken = `an application with the name '${record.name}' is registered: delete it, or choose another name`;
    await this.write(applicationKey(record.name), asJson(record), 0, 'application_exists', taken);
  }

  /**
   * Changes what an application is served by; its links, and what it has learned under the same policy, stay.
   * Errors: `unknown_application`, `invalid_policy`, `concurrent_change`; what `change` throws.
   * @param change makes the new record of the present one
   * @param policyFile that the new record names, unless it is kept
   */
  async changeApplication(
    name: string,
    change: (present: ApplicationRecord) => ApplicationRecord,
    policyFile?: PolicyFile,
  ): Promise<void> {
    const present = this.requireApplication(name, 'name');
    const record = change(present);
    checkedPolicy(record);
    checkedLoss(record.loss);
    if (JSON.stringify(asJson(record)) === JSON.stringify(present)) return;
    const key = applicationKey(name);
    const version = this.store.get(key)?.version ?? 0;
    await this.keepPolicyFile(policyFile);
    await this.write(key, asJson(record), version);
    await this.forgetPolicyFiles();
  }

  /** Errors: `unknown_application`. What the application has learned goes with the engine's own state. */
  async deleteApplication(name: string): Promise<void> {
    this.requireApplication(name, 'name');
    const links = this.write(linksKey(name), undefined, 'any');
    await Promise.all([links, this.write(applicationKey(name), undefined, 'any')]);
    await this.forgetPolicyFiles();
  }

  /**
   * Registers a version and makes it the current one, or tries it beside that. Errors: `invalid_name`, `invalid_value`, `model_exists`,
   * `input_type_mismatch` with an application that the model is linked to; those of `startCanary`.
   * @param canary parameters of policy `canary`; undefined: it becomes the current one
   */
  async addModel(record: ModelRecord, scale?: ModelScale, canary?: Json): Promise<void> {
    checkName(record.name, 'model_name');
    checkName(record.version, 'model_version');
    if (scale !== undefined) checkScale(scale);
    for (const application of this.image.applicationsOf(record.name)) this.checkFits(record, application);
    this.requireFree(record.name, record.version);
    const trial = canary === undefined ? undefined : this.newCanary(record, canary);
    // All in one turn, so that they are durable together; the scale first: whoever hears of the version finds it.
    const scaled =
      scale === undefined ? [] : [this.write(scaleKey(record.name, record.version), asJson(scale), 'any')];
    const added = this.write(
      modelKey(record.name, record.version),
      asJson(record),
      0,
      'model_exists',
      isTaken(record.name, record.version),
    );
    const taken = trial === undefined ? this.makeCurrent(record.name, record.version) : [this.keep(trial)];
    await Promise.all([...scaled, added, ...taken]);
  }

  /** @throws ServiceError `model_exists` for a version that is registered */
  requireFree(name: string, version: string): void {
    if (this.image.model(name, version) !== undefined)
      throw new ServiceError('model_exists', isTaken(name, version));
  }

  /** Makes a registered version the current one: rollback. Errors: `unknown_model`, `input_type_mismatch`. */
  async setCurrentVersion(name: string, version: string): Promise<void> {
    const model = this.requireVersion(name, version);
    for (const application of this.image.applicationsOf(name)) this.checkFits(model, application);
    await Promise.all(this.makeCurrent(name, version));
  }

  /** The last version of the model that was tried beside another, or is. */
  canary(model: string): CanaryRecord | undefined {
    return this.image.canary(model);
  }

  /** Of each model that ever had one. */
  canaries(): readonly CanaryRecord[] {
    return this.image.allCanaries();
  }

  /**
   * Tries a registered version beside the current one. Errors: `unknown_model`, `invalid_policy`, `canary_running`, `no_incumbent`,
   * `input_type_mismatch`, `concurrent_change`.
   * @param parameters of policy `canary`
   */
  async startCanary(name: string, version: string, parameters: Json): Promise<void> {
    const model = this.requireVersion(name, version);
    for (const application of this.image.applicationsOf(name)) this.checkFits(model, application);
    await this.keep(this.newCanary(model, parameters));
  }

  /**
   * The candidate becomes the current version, or is no longer tried. Errors: `no_canary`.
   * @param number of the candidate that is meant
   * @returns false when it was over
   */
  async endCanary(model: string, number: number, end: CanaryEnd): Promise<boolean> {
    const record = this.image.canary(model);
    if (record === undefined || record.number !== number || record.end !== undefined) return false;
    const before = this.image.versionsBefore(model);
    const kept = this.keep({ ...record, end });
    // In the same turn, so that both are durable together.
    const switched = end.kind === 'promoted' ? this.switchTo(model, record.candidate) : [];
    const outcomes = await Promise.allSettled([kept, ...switched]);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return true;
    const error: unknown = failed.reason;
    if (!(error instanceof ServiceError && error.code === 'concurrent_change')) throw error;
    // Another server was first. If it has not promoted it, too, nobody is to be answered by it.
    const isPromoted = this.image.canary(model)?.end?.kind === 'promoted';
    if (switched.length > 0 && !isPromoted && this.image.currentVersion(model) === record.candidate) {
      const { incumbent } = record;
      await Promise.all([
        this.write(formerKey(model), before, 'any'),
        this.write(currentKey(model), incumbent, 'any'),
      ]);
    }
    return false;
  }

  /** Says how many replicas of a version are to run. Errors: `unknown_model`, `invalid_value`. */
  async setScale(name: string, version: string, scale: ModelScale): Promise<void> {
    this.requireVersion(name, version);
    checkScale(scale);
    await this.write(scaleKey(name, version), asJson(scale), 'any');
  }

  /** Errors: `unknown_model`, `version_in_use` for the current version of a model with other versions or links. */
  async deleteVersion(name: string, version: string): Promise<void> {
    this.requireVersion(name, version);
    const writes: Promise<void>[] = [];
    if (this.image.currentVersion(name) === version) {
      const others = this.image.versions(name).length - 1;
      const applications = this.image.applicationsOf(name);
      if (others > 0 || applications.length > 0) {
        const inTheWay =
          others > 0
            ? `which has ${others === 1 ? 'another version' : `${others} other versions`}: make another one current, or delete those first`
            : `to which applications are linked: unlink ${applications.join(', ')} first`;
        throw new ServiceError(
          'version_in_use',
          `'${version}' is the current version of model '${name}', ${inTheWay}`,
          'model_version',
        );
      }
      writes.push(this.write(currentKey(name), undefined, 'any'));
      writes.push(this.write(canaryKey(name), undefined, 'any'));
      writes.push(this.write(formerKey(name), undefined, 'any'));
    }
    const tried = this.image.canary(name);
    if (tried?.end === undefined && tried?.candidate === version) {
      writes.push(this.keep({ ...tried, end: { kind: 'aborted', reason: 'it was deleted' } }));
    }
    writes.push(this.write(modelKey(name, version), undefined, 'any'));
    writes.push(this.write(scaleKey(name, version), undefined, 'any'));
    writes.push(this.write(declaredKey(name, version), undefined, 'any'));
    await Promise.all(writes);
  }

  /** @throws ServiceError `input_type_mismatch` when no input suits both it and another model of an application. */
  checkDeclared(model: ModelRecord, form: DeclaredForm): void {
    const { name, version } = model;
    const tried = this.image.canary(name);
    const isTried = tried?.end === undefined && tried?.candidate === version;
    if (this.image.currentVersion(name) !== version && !isTried) return;
    const whole = { ...form, ...inputFormOf(model) };
    if (isTried) this.checkInPlace(model, tried.incumbent, whole);
    for (const application of this.image.applicationsOf(name)) this.checkFits(model, application, whole);
  }

  /** Keeps what a version takes, which a replica of it or its files have said. */
  async declare({ name, version }: ModelRecord, form: DeclaredForm): Promise<void> {
    const model = this.image.model(name, version);
    if (model === undefined) return;
    const declared = { ...this.image.declaredForm(model), ...form };
    const whole = JSON.stringify({ ...declared, ...inputFormOf(model) });
    if (this.image.isFormKnown(model) && JSON.stringify(this.image.inputForm(model)) === whole) return;
    await this.write(declaredKey(name, version), asJson(declared), 'any');
  }

  /** Links models to an application, all or none. Errors: `unknown_*`, `link_exists`, `input_type_mismatch`. */
  async addLinks(application: string, names: readonly string[]): Promise<void> {
    const record = this.requireApplication(application, 'app_name');
    const key = linksKey(application);
    const present = this.store.get(key);
    const linked = this.image.linkedNames(application);
    const models = [...this.image.linkedModels(application)];
    for (const [index, name] of names.entries()) {
      const field = `model_names[${index}]`;
      const model = this.requireModel(name, field);
      if (linked.includes(name) || names.indexOf(name) < index) {
        const message = `model '${name}' is linked to application '${application}'`;
        throw new ServiceError('link_exists', message, field);
      }
      this.checkTogether(record, { name, form: this.image.inputForm(model) }, models, field);
      models.push(model);
    }
    await this.write(key, [...linked, ...names], present?.version ?? 0);
  }

  /** Errors: `unknown_application`, `unknown_link`. */
  async deleteLinks(application: string, names: readonly string[]): Promise<void> {
    this.requireApplication(application, 'app_name');
    const key = linksKey(application);
    const present = this.store.get(key);
    const linked = this.image.linkedNames(application);
    for (const [index, name] of names.entries()) {
      if (!linked.includes(name)) {
        const message = `model '${name}' is not linked to application '${application}'`;
        throw new ServiceError('unknown_link', message, `model_names[${index}]`);
      }
    }
    const left = linked.filter((name) => !names.includes(name));
    await this.write(key, left, present?.version ?? 0);
  }

  /** @throws ServiceError `unknown_application` */
  requireApplication(name: string, field: string): ApplicationRecord {
    const application = this.image.application(name);
    if (application !== undefined) return application;
    throw new ServiceError('unknown_application', `no application has the name '${name}'`, field);
  }

  /** @throws ServiceError `unknown_model` */
  requireVersion(name: string, version: string): ModelRecord {
    const model = this.image.model(name, version);
    if (model !== undefined) return model;
    const known = this.image.versions(name).map((record) => record.version);
    const message =
      known.length === 0
        ? `no model has the name '${name}'`
        : `model '${name}' has no version '${version}', it has ${known.join(', ')}`;
    throw new ServiceError('unknown_model', message, known.length === 0 ? 'model_name' : 'model_version');
  }

  /** Before the record that names it, so that whoever hears of that finds it. */
  private async keepPolicyFile(file: PolicyFile | undefined): Promise<void> {
    if (file === undefined) return;
    const hash = policyFileHash(file.text);
    if (this.image.policyFile(hash) === undefined)
      await this.write(policyFileKey(hash), { name: file.name, text: file.text }, 'any');
  }

  /** Those that no application names any more. */
  private async forgetPolicyFiles(): Promise<void> {
    const named = new Set(this.image.applications().map(({ policyFile }) => policyFile?.hash));
    const gone = this.image.policyFileHashes().filter((hash) => !named.has(hash));
    await Promise.all(gone.map((hash) => this.write(policyFileKey(hash), undefined, 'any')));
  }

  private requireModel(name: string, field: string): ModelRecord {
    const version = this.image.currentVersion(name);
    const model = version === undefined ? undefined : this.image.model(name, version);
    if (model !== undefined) return model;
    throw new ServiceError('unknown_model', `no model has the name '${name}'`, field);
  }

  /** Whether a version may stand in for the model's present one in an application. */
  private checkFits(model: ModelRecord, application: string, form = this.image.inputForm(model)): void {
    const record = this.image.application(application);
    if (record === undefined) return;
    const others = this.image.linkedModels(application).filter((linked) => linked.name !== model.name);
    this.checkTogether(record, { name: model.name, form }, others, 'input_type');
  }

  private checkTogether(
    application: ApplicationRecord,
    model: NamedForm,
    others: readonly ModelRecord[],
    field: string,
  ): void {
    if (application.inputType !== model.form.type) {
      throw new ServiceError(
        'input_type_mismatch',
        `model '${model.name}' takes ${model.form.type}, application '${application.name}' ${application.inputType}`,
        field,
      );
    }
    for (const other of others) {
      const clash = inputClash(model, { name: other.name, form: this.image.inputForm(other) });
      if (clash !== undefined) throw new ServiceError('input_type_mismatch', clash, field);
    }
  }

  /** @throws ServiceError */
  private newCanary(model: ModelRecord, parameters: Json): CanaryRecord {
    const { name, version } = model;
    checkedCanary(parameters);
    const incumbent = this.image.currentVersion(name);
    if (incumbent === undefined || incumbent === version) {
      const message =
        incumbent === undefined
          ? `model '${name}' has no version that serves, beside which '${version}' could be tried: add it without canary`
          : `version '${version}' is the current one of model '${name}': only another one can be tried beside it`;
      throw new ServiceError('no_incumbent', message, 'model_version');
    }
    const former = this.image.canary(name);
    if (former !== undefined && former.end === undefined) {
      throw new ServiceError(
        'canary_running',
        `version '${former.candidate}' of model '${name}' is being tried: promote or abort it first`,
        'model_version',
      );
    }
    this.checkInPlace(model, incumbent, this.image.inputForm(model));
    return { model: name, candidate: version, incumbent, number: this.nextTrial(name), parameters };
  }

  /** Above that of every trial of which there is a record, or something that was learned: a model that was deleted leaves that. */
  private nextTrial(name: string): number {
    const learned = this.store
      .list(`${storeKey('canary', name)}/`)
      .map(({ key }) => Number(storeKeyParts(key)[2]));
    return 1 + Math.max(0, this.image.canary(name)?.number ?? 0, ...learned);
  }

  /** Whoever asks one may be answered by the other. @throws ServiceError `input_type_mismatch` */
  private checkInPlace(model: ModelRecord, incumbent: string, form: InputForm): void {
    const { name, version } = model;
    const served = this.image.model(name, incumbent);
    if (served === undefined) return;
    const clash =
      served.inputType === model.inputType
        ? inputClash(
            { name: `${name} ${version}`, form },
            { name: `${name} ${incumbent}`, form: this.image.inputForm(served) },
          )
        : `version '${version}' takes ${model.inputType}, '${incumbent}' ${served.inputType}`;
    if (clash !== undefined) throw new ServiceError('input_type_mismatch', clash, 'input_type');
  }

  private keep(record: CanaryRecord): Promise<void> {
    const key = canaryKey(record.model);
    return this.write(key, asJson(record), this.store.get(key)?.version ?? 0);
  }

  /** Also ends what was being tried: it was compared with another one. */
  private makeCurrent(name: string, version: string): Promise<void>[] {
    const writes = this.switchTo(name, version);
    const tried = this.image.canary(name);
    // Also the one that is current: whoever makes it so wants no other one to answer.
    if (tried === undefined || tried.end !== undefined) return writes;
    const end: CanaryEnd =
      tried.candidate === version
        ? { kind: 'promoted', reason: 'it was made the current version' }
        : { kind: 'aborted', reason: `version '${version}' was made the current one` };
    return [...writes, this.keep({ ...tried, end })];
  }

  /** The present current version goes first among those before. */
  private switchTo(name: string, version: string): Promise<void>[] {
    const current = this.image.currentVersion(name);
    if (current === version) return [];
    const before = this.image.versionsBefore(name).filter((one) => one !== version);
    const former = current === undefined ? before : [current, ...before];
    return [
      this.write(formerKey(name), former.slice(0, MOST_FORMER_VERSIONS), 'any'),
      this.write(currentKey(name), version, 'any'),
    ];
  }

  private write(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    conflict: ErrorCode = 'concurrent_change',
    message = 'the record was changed meanwhile; read it again and repeat',
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.store.set(key, value, expected, (outcome: StoreOutcome) => {
        if (outcome.ok) resolve();
        else if (outcome.reason === 'conflict') reject(new ServiceError(conflict, message));
        else reject(notKept(outcome));
      });
    });
  }
}

/** @throws ServiceError `invalid_policy` */
function checkedPolicy({ policy, policyFile }: ApplicationRecord): void {
  const { name, parameters } = policy;
  // What the file takes was asked of the file.
  if (name === FILE_POLICY && policyFile?.traits.name !== undefined) return;
  if (name === FILE_POLICY) {
    const message =
      policyFile === undefined
        ? `policy '${FILE_POLICY}' is one of your own: send policy_file with it`
        : `${policyFile.name} has losses alone, no default export: choose a policy for it by name`;
    throw new ServiceError('invalid_policy', message, 'policy_file');
  }
  try {
    checkPolicy(name, parameters);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new ServiceError('invalid_policy', error.message, `policy.${error.field}`, { cause: error });
  }
}

/** @throws ServiceError `invalid_policy` */
function checkedCanary(parameters: Json): void {
  try {
    checkPolicy('canary', parameters);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const field = error.field.replace(/^parameters/, 'canary');
    throw new ServiceError('invalid_policy', error.message, field, { cause: error });
  }
  const given = typeof parameters === 'object' ? (parameters ?? {}) : {};
  const named = ['model', 'candidate'].find((name) => Object.hasOwn(given, name));
  if (named === undefined) return;
  const message = `canary.${named} is not taken here: versions of one model are compared`;
  throw new ServiceError('invalid_policy', message, `canary.${named}`);
}

/** @throws ServiceError `invalid_value` */
function checkedLoss(loss: ApplicationRecord['loss']): void {
  if (loss === undefined) return;
  try {
    checkLoss(loss);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new ServiceError('invalid_value', error.message, `loss.${error.field}`, { cause: error });
  }
}

/** @throws ServiceError `invalid_value` */
function checkScale({ replicas, range }: ModelScale): void {
  const check = (value: number, field: string, least: number, most: number): void => {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return;
    const message = `${field} must be a whole number from ${least} to ${most}, not ${value}`;
    throw new ServiceError('invalid_value', message, field);
  };
  if (range === undefined) {
    check(replicas, 'num_replicas', 0, MOST_REPLICAS);
    return;
  }
  check(range.maximum, 'max_replicas', 1, MOST_REPLICAS);
  // Nothing would tell an autoscaler at 0 that somebody asks.
  check(range.minimum, 'min_replicas', 1, range.maximum - 1);
  check(replicas, 'num_replicas', range.minimum, range.maximum);
}

/** Records are plain data; undefined members are left out, as JSON does. */
function asJson(record: ApplicationRecord | CanaryRecord | ModelRecord | ModelScale | DeclaredForm): Json {
  return JSON.parse(JSON.stringify(record)) as Json;
}

const applicationKey = (name: string) => storeKey('registry', 'application', name);
const modelKey = (name: string, version: string) => storeKey('registry', 'model', name, version);
const currentKey = (name: string) => storeKey('registry', 'current', name);
/** A list of strings. */
const formerKey = (name: string) => storeKey('registry', 'former', name);
const scaleKey = (name: string, version: string) => storeKey('registry', 'scale', name, version);
/** A `DeclaredForm`; of earlier programs a number, the elements of an input. */
const declaredKey = (name: string, version: string) => storeKey('registry', 'declared', name, version);
const policyFileKey = (hash: string) => storeKey('registry', 'policyFile', hash);
const canaryKey = (model: string) => storeKey('registry', 'canary', model);
const linksKey = (application: string) => storeKey('registry', 'links', application);

function isTaken(name: string, version: string): string {
  return `version '${version}' of model '${name}' is registered: give this one another version`;
}

/** SHA-256 of a policy file's text, by which the store knows it. */
export function policyFileHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
