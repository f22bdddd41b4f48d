import type { z } from 'zod';
import { gpuName, type NodeRoom } from '../../containers/runtime/index.js';
import type { ReplicaStatus } from '../deployment/index.js';
import type { Json } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import type { SelectionStates } from '../feedback/index.js';
import { FILE_POLICY } from '../policyFiles/index.js';
import type { ApplicationRecord } from '../registry/index.js';
import type { AdminSources } from './adminSources.js';
import { tryParameters, tryPolicyFile } from './applicationPolicyFile.js';
import { applicationRecord, changedApplication } from './applicationRegistration.js';
import { parametersOf, triedText } from './canaryVerbs.js';
import { cardsFor } from './pinnedGpu.js';
import { applicationWarnings, versionWarnings, warningText } from './objectiveWarnings.js';
import { refuseExternal, refuseMisspelt } from './modelRegistration.js';
import { inheritedScale, scaleOf, scaleText } from './modelScale.js';
import { applicationJson, modelJson } from './records.js';
import { modelRecordAside } from './registrationThread.js';
import * as schemas from './schemas.js';
import type { SetApplicationRequest } from './schemas.js';
import { verb, type AdminVerb } from './verb.js';
import { withFiles } from './uploadedFiles.js';
import { VersionTurns } from './versionTurns.js';
import { read } from './feedbackVerbs.js';

type VersionRequest = z.infer<typeof schemas.modelVersionSchema>;
type LinksRequest = z.infer<typeof schemas.linksSchema>;

/** Clipper's administration, with its fields; an application may have several links here. */
export function adminVerbs(sources: AdminSources): readonly AdminVerb[] {
  return [
    ...applicationVerbs(sources),
    ...modelVerbs(sources),
    ...linkVerbs(sources),
    ...statusVerbs(sources),
  ];
}

function applicationVerbs(sources: AdminSources): AdminVerb[] {
  const { registry, states } = sources;
  const applicationState = (name: string): object | undefined => {
    const record = registry.application(name);
    return record && applicationJson(registry, record);
  };
  return [
    verb('add_app', {
      summary: 'Register an application',
      request: schemas.addApplicationSchema,
      errors: [
        'invalid_name',
        'invalid_policy',
        'invalid_value',
        'application_exists',
        'storage_full',
        'store_failed',
      ],
      changes: {
        about: ({ name }) => ({ application: name }),
        state: ({ name }) => applicationState(name),
      },
      run: async (request) => {
        const { policy_file: sent, policy } = request;
        const parameters = policy.name === FILE_POLICY ? policy.parameters : null;
        const tried = sent && (await tryPolicyFile(sent, parameters));
        await registry.addApplication(applicationRecord(request, tried?.choice), tried?.file);
        return `Success! Application '${request.name}' is registered.`;
      },
    }),
    verb('set_app', {
      summary: 'Change an application; its links, and what it has learned, stay',
      request: schemas.setApplicationSchema,
      errors: [
        'missing_field',
        'unknown_application',
        'input_type_mismatch',
        'invalid_policy',
        'invalid_value',
        'learned_state',
        'concurrent_change',
        'storage_full',
        'store_failed',
      ],
      changes: {
        about: ({ name }) => ({ application: name }),
        state: ({ name }) => applicationState(name),
      },
      run: async (request) => {
        const { name, forget_learned: mayForget, ...wanted } = request;
        if (Object.keys(wanted).length === 0) {
          throw new ServiceError('missing_field', 'say what is to change, such as latency_slo_micros');
        }
        let forget: (() => void) | undefined;
        const before = registry.requireApplication(name, 'name');
        const { policy_file: sent } = request;
        const tried = sent && (await tryPolicyFile(sent, ...trialOf(before, request, states?.(name))));
        if (tried === undefined && request.policy !== undefined)
          await tryParameters(changedApplication(before, request), (hash) => registry.policyFile(hash));
        const change = (present: ApplicationRecord): ApplicationRecord => {
          const record = changedApplication(present, request, tried?.choice);
          const stays = policyOf(record) === policyOf(present) && tried?.refused === undefined;
          const learned = stays ? undefined : states?.(name);
          if (learned?.hasLearned() === true && !mayForget) {
            const why = tried?.refused === undefined ? '' : ` (${tried.refused})`;
            throw new ServiceError(
              'learned_state',
              `application '${name}' has learned under policy '${policyOf(present)}', and '${policyOf(record)}' begins anew${why}: ` +
                'change parameters alone, register another application, or send forget_learned',
              'policy.name',
            );
          }
          forget = learned?.forgetting();
          return record;
        };
        await registry.changeApplication(name, change, tried?.file);
        forget?.();
        return `Success! Application '${name}' is as asked.${warningText(applicationWarnings(sources, name))}`;
      },
    }),
    verb('delete_app', {
      summary: 'Delete an application and its links',
      request: schemas.nameSchema,
      errors: ['unknown_application', 'storage_full', 'store_failed'],
      changes: {
        about: ({ name }) => ({ application: name }),
        state: ({ name }) => applicationState(name),
      },
      run: async ({ name }) => {
        await registry.deleteApplication(name);
        return `Success! Application '${name}' is deleted.`;
      },
    }),
    verb('get_application', {
      summary: 'One application',
      request: schemas.nameSchema,
      answer: schemas.applicationAnswer,
      errors: ['unknown_application'],
      changes: 'nothing',
      run: ({ name }) => applicationJson(registry, registry.requireApplication(name, 'name')),
    }),
    verb('get_all_applications', {
      summary: 'Every application',
      request: schemas.verboseSchema,
      answer: schemas.applicationAnswer.array().or(schemas.nameSchema.shape.name.array()),
      changes: 'nothing',
      run: ({ verbose }) =>
        registry.applications().map((record) => (verbose ? applicationJson(registry, record) : record.name)),
    }),
  ];
}

/** What a state is learned under: of a policy from a file its own name. */
function policyOf({ policy, policyFile }: ApplicationRecord): string {
  return policy.name === FILE_POLICY ? `${FILE_POLICY} ${policyFile?.traits.name}` : policy.name;
}

/** What a new file is tried with: the parameters that it will have, and what was learned under the one before. */
function trialOf(
  present: ApplicationRecord,
  { policy }: SetApplicationRequest,
  states: SelectionStates | undefined,
): [parameters: Json, learned: Json | undefined] {
  const { name = present.policy.name, parameters } = policy ?? {};
  if (name !== FILE_POLICY) return [null, undefined];
  const isSame = present.policy.name === FILE_POLICY;
  const own = isSame ? (states?.own.state as { readonly learned?: Json } | undefined) : undefined;
  return [parameters ?? (isSame ? present.policy.parameters : {}), own?.learned];
}

function modelVerbs(sources: AdminSources): AdminVerb[] {
  const { registry, servingVersion, capacity } = sources;
  const turns = new VersionTurns();
  const versionOf = ({ model_name: model, model_version: version }: VersionRequest) => ({ model, version });
  const modelState = ({ model_name: name, model_version: version }: VersionRequest) => {
    const record = registry.model(name, version);
    const current = registry.currentVersion(name);
    return { current_version: current, registered: record && modelJson(sources, record) };
  };
  /** How a switch ends, or what it waits for. */
  const standIn = (name: string, version: string): string => {
    const serving = servingVersion(name);
    if (serving === undefined || serving === version) return '';
    return ` Version '${serving}' answers until a replica of it is up.`;
  };
  return [
    verb('add_model', {
      summary:
        'Register a version of a model; it becomes the current one, or is tried beside that, and answers once a replica is up',
      request: schemas.addModelSchema,
      errors: [
        'invalid_name',
        'invalid_value',
        'missing_field',
        'invalid_model',
        'conflicting_fields',
        'model_exists',
        'invalid_policy',
        'no_incumbent',
        'canary_running',
        'concurrent_change',
        'unknown_bundle',
        'unknown_gpu',
        'insufficient_gpu_memory',
        'input_type_mismatch',
        'storage_full',
        'store_failed',
      ],
      changes: { about: versionOf, state: modelState },
      run: (request) =>
        turns.run(request.model_name, request.model_version, async () => {
          registry.requireFree(request.model_name, request.model_version);
          const { record, note } = await withFiles(sources.bundles, request, (placed) =>
            modelRecordAside(placed, cardsFor(placed, sources.rooms())),
          );
          refuseMisspelt(record);
          if (sources.dialsIn !== true) refuseExternal(record, 'container_name');
          const { name, version } = record;
          const scale = scaleOf(request, record.container) ?? inheritedScale(registry, record);
          const change = { model: record, scale: scale ?? registry.scale(name, version) };
          await sources.keepFiles?.(record);
          const canary = parametersOf(request.canary);
          await capacity.admit([change], () => registry.addModel(record, scale, canary));
          const then =
            canary === undefined ? standIn(name, version) : ` ${triedText(registry, name, version)}`;
          return `Success! Model '${name}' version '${version}' is registered.${note}${then}`;
        }),
    }),
    verb('get_bundle', {
      summary: 'Whether the files of a model are there, so that nobody sends them twice',
      request: schemas.bundleSchema,
      answer: schemas.bundleAnswer,
      errors: ['store_failed'],
      changes: 'nothing',
      run: async ({ content_hash }) => ({
        content_hash,
        is_there: await sources.bundles.has(content_hash),
      }),
    }),
    verb('set_model_version', {
      summary: 'Make a registered version the current one: roll back or forward',
      request: schemas.modelVersionSchema,
      errors: ['unknown_model', 'input_type_mismatch', 'storage_full', 'store_failed'],
      changes: {
        about: versionOf,
        state: ({ model_name: name }) => {
          const tried = registry.canary(name);
          return {
            current_version: registry.currentVersion(name),
            former_versions: registry.versionsBefore(name),
            canary: tried === undefined ? undefined : (tried.end?.kind ?? 'ramping'),
          };
        },
      },
      run: async ({ model_name: name, model_version: version }) => {
        const tried = registry.canary(name);
        await registry.setCurrentVersion(name, version);
        const isAborted = tried?.end === undefined && registry.canary(name)?.end?.kind === 'aborted';
        const ended = isAborted ? ` Version '${tried?.candidate}' is no longer tried.` : '';
        const warnings = warningText(versionWarnings(sources, name, version));
        return `Success! Model '${name}' is at version '${version}'.${ended}${standIn(name, version)}${warnings}`;
      },
    }),
    verb('set_num_replicas', {
      summary: 'Say how many replicas of a version run: a number, or limits between which the load decides',
      request: schemas.scaleSchema,
      errors: [
        'unknown_model',
        'missing_field',
        'invalid_value',
        'conflicting_fields',
        'insufficient_gpu_memory',
        'storage_full',
        'store_failed',
      ],
      changes: {
        about: versionOf,
        state: ({ model_name: name, model_version: version }) => registry.scale(name, version),
      },
      run: async (request) => {
        const { model_name: name, model_version: version } = request;
        const model = registry.requireVersion(name, version);
        const scale = scaleOf(request, model.container, registry.scale(name, version));
        if (scale === undefined) {
          const message = 'num_replicas is required, or min_replicas and max_replicas';
          throw new ServiceError('missing_field', message, 'num_replicas');
        }
        await capacity.admit([{ model, scale }], () => registry.setScale(name, version, scale));
        return `Success! Model '${name}' version '${version}' is to have ${scaleText(scale)}.`;
      },
    }),
    verb('delete_versioned_model', {
      summary: 'Delete a version of a model',
      request: schemas.modelVersionSchema,
      errors: ['unknown_model', 'version_in_use', 'storage_full', 'store_failed'],
      changes: { about: versionOf, state: modelState },
      run: async ({ model_name: name, model_version: version }) => {
        registry.requireVersion(name, version);
        if (servingVersion(name) === version && registry.currentVersion(name) !== version) {
          const message = `version '${version}' answers until a replica of the current one is up: roll back, or wait`;
          throw new ServiceError('version_in_use', message, 'model_version');
        }
        await registry.deleteVersion(name, version);
        return `Success! Model '${name}' version '${version}' is deleted.`;
      },
    }),
    verb('get_model', {
      summary: 'One version of a model',
      request: schemas.modelVersionSchema,
      answer: schemas.modelAnswer,
      errors: ['unknown_model'],
      changes: 'nothing',
      run: ({ model_name: name, model_version: version }) =>
        modelJson(sources, registry.requireVersion(name, version)),
    }),
    verb('get_all_models', {
      summary: 'Every version of every model, as name:version or as objects',
      request: schemas.verboseSchema,
      answer: schemas.modelAnswer.array().or(schemas.nameSchema.shape.name.array()),
      changes: 'nothing',
      run: ({ verbose }) =>
        registry
          .models()
          .map((record) => (verbose ? modelJson(sources, record) : `${record.name}:${record.version}`)),
    }),
  ];
}

function linkVerbs(sources: AdminSources): AdminVerb[] {
  const { registry } = sources;
  const errors = ['unknown_application', 'storage_full', 'store_failed', 'concurrent_change'] as const;
  const links = {
    about: ({ app_name: application, model_names: models }: LinksRequest) => ({ application, models }),
    state: ({ app_name: application }: LinksRequest) => registry.linkedNames(application),
  };
  return [
    verb('add_model_links', {
      summary: 'Link models to an application: all of them or, on an error, none',
      request: schemas.linksSchema,
      errors: [...errors, 'unknown_model', 'invalid_model', 'link_exists', 'input_type_mismatch'],
      changes: links,
      run: async ({ app_name: application, model_names: models }) => {
        if (sources.dialsIn !== true) refuseUnreachable(registry, models);
        await registry.addLinks(application, models);
        const warnings = warningText(applicationWarnings(sources, application));
        return `Success! Application '${application}' is linked to ${models.join(', ')}.${warnings}`;
      },
    }),
    verb('delete_model_links', {
      summary: 'Unlink models from an application: all of them or, on an error, none',
      request: schemas.linksSchema,
      errors: [...errors, 'unknown_link'],
      changes: links,
      run: async ({ app_name: application, model_names: models }) => {
        await registry.deleteLinks(application, models);
        const warnings = warningText(applicationWarnings(sources, application));
        return `Success! Application '${application}' is no longer linked to ${models.join(', ')}.${warnings}`;
      },
    }),
    verb('get_linked_models', {
      summary: 'Names of the models that are linked to an application, in order of linking',
      request: schemas.applicationNameSchema,
      answer: schemas.nameSchema.shape.name.array(),
      errors: ['unknown_application'],
      changes: 'nothing',
      run: ({ app_name: application }) => {
        registry.requireApplication(application, 'app_name');
        return registry.linkedNames(application);
      },
    }),
  ];
}

/** What no container can serve is linked to nothing: it would never answer. @throws ServiceError `invalid_model` */
function refuseUnreachable(registry: AdminSources['registry'], names: readonly string[]): void {
  for (const name of names) {
    const record = registry.model(name, registry.currentVersion(name) ?? '');
    if (record !== undefined) refuseExternal(record, 'model_names');
  }
}

function statusVerbs({ registry, replicas, selectionShares, states, rooms }: AdminSources): AdminVerb[] {
  return [
    verb('get_all_containers', {
      summary: 'Every replica of every model version, as name:version:replica or as objects',
      request: schemas.verboseSchema,
      answer: schemas.containerAnswer.array().or(schemas.nameSchema.shape.name.array()),
      changes: 'nothing',
      run: ({ verbose }) => {
        if (!verbose)
          return replicas().map(({ model, version, replica }) => `${model}:${version}:${replica}`);
        const places = placesOf(rooms());
        return replicas().map((status) => replicaJson(status, places));
      },
    }),
    verb('get_container', {
      summary: 'One replica of a model version',
      request: schemas.containerSchema,
      answer: schemas.containerAnswer,
      errors: ['unknown_model', 'unknown_replica'],
      changes: 'nothing',
      run: ({ model_name: model, model_version: version, replica_id: replica }) => {
        registry.requireVersion(model, version);
        const found = replicas().find(
          (status) => status.model === model && status.version === version && status.replica === replica,
        );
        if (found !== undefined) return replicaJson(found, placesOf(rooms()));
        const message = `version '${version}' of model '${model}' has no replica ${replica}`;
        throw new ServiceError('unknown_replica', message, 'replica_id');
      },
    }),
    verb('get_state', {
      summary: 'What an application has learned, in one selection context',
      request: schemas.stateSchema,
      answer: schemas.stateAnswer,
      errors: ['unknown_application'],
      changes: 'nothing',
      run: async ({ app_name: application, uid }) => {
        const { policy } = registry.requireApplication(application, 'app_name');
        await read(states?.(application), String(uid));
        const shares = selectionShares(application, String(uid)) ?? [];
        return { app_name: application, uid: String(uid), policy, shares: Object.fromEntries(shares) };
      },
    }),
  ];
}

/** Names of GPUs, by the replicas that hold memory there. */
function placesOf(rooms: readonly NodeRoom[]): ReadonlyMap<string, string> {
  return new Map(
    rooms.flatMap(({ node, holders }) =>
      holders.map(({ model, version, replica, gpu }) => [keyOf(model, version, replica), gpuName(node, gpu)]),
    ),
  );
}

function keyOf(...identity: readonly [model: string, version: string, replica: string]): string {
  return JSON.stringify(identity);
}

function replicaJson(status: ReplicaStatus, places: ReadonlyMap<string, string>): object {
  const { model, version, replica } = status;
  return {
    model_name: model,
    model_version: version,
    replica_id: replica,
    state: status.state,
    gpu: places.get(keyOf(model, version, String(replica))),
    restarts: status.restarts,
    last_failure: status.lastFailure,
  };
}
