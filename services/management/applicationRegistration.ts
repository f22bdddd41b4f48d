import { LOSS_NAMES } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import type { ApplicationRecord, PolicyChoice, PolicyFileChoice } from '../registry/index.js';
import { FILE_POLICY } from '../policyFiles/index.js';
import type { AddApplicationRequest, SetApplicationRequest } from './schemas.js';

/**
 * The record of an application that is to be registered.
 * @param policyFile that it has
 * @throws ServiceError `invalid_value` for a loss that nobody has
 */
export function applicationRecord(
  request: Omit<AddApplicationRequest, 'policy_file'>,
  policyFile?: PolicyFileChoice,
): ApplicationRecord {
  return {
    name: request.name,
    inputType: request.input_type,
    defaultOutput: request.default_output,
    latencyObjectiveUs: request.latency_slo_micros,
    policy: request.policy,
    ...(request.max_in_flight === undefined ? {} : { maxInFlight: request.max_in_flight }),
    ...(request.strict ? { strict: true } : {}),
    ...(request.launch_class === undefined ? {} : { launchClass: request.launch_class }),
    ...(request.context_ttl_days === undefined ? {} : { contextTtlDays: request.context_ttl_days }),
    ...(request.loss === undefined ? {} : lossOf(request.loss, policyFile)),
    ...(policyFile === undefined ? {} : { policyFile }),
    ...(request.loss_of_late === undefined ? {} : { lossOfLate: request.loss_of_late }),
  };
}

function lossOf(
  loss: NonNullable<AddApplicationRequest['loss']>,
  policyFile: PolicyFileChoice | undefined,
): Pick<ApplicationRecord, 'loss' | 'fileLoss'> {
  const name = LOSS_NAMES.find((one) => one === loss.name);
  if (name !== undefined) return { loss: { ...loss, name } };
  const own = policyFile?.traits.losses ?? [];
  if (!own.includes(loss.name)) {
    const known = [...LOSS_NAMES, ...own].join(', ');
    const file = policyFile === undefined ? '; one of your own comes from policy_file' : '';
    const message = `there is no loss '${loss.name}': choose one of ${known}${file}`;
    throw new ServiceError('invalid_value', message, 'loss.name');
  }
  if (loss.scale !== undefined || loss.quantile !== undefined) {
    const field = loss.scale === undefined ? 'quantile' : 'scale';
    const message = `${field} is for losses of the server's own, and '${loss.name}' is the file's: leave it out`;
    throw new ServiceError('invalid_value', message, `loss.${field}`);
  }
  return { fileLoss: loss.name };
}

/**
 * A registered application's record with what a request changes.
 * @param policyFile in place of the present one
 * @throws ServiceError `input_type_mismatch`, `invalid_value`
 */
export function changedApplication(
  present: ApplicationRecord,
  request: SetApplicationRequest,
  policyFile = present.policyFile,
): ApplicationRecord {
  const { input_type: inputType = present.inputType } = request;
  if (inputType !== present.inputType) {
    throw new ServiceError(
      'input_type_mismatch',
      `application '${present.name}' takes ${present.inputType}, which its models and clients rely on: register another application for ${inputType}`,
      'input_type',
    );
  }
  const { default_output, latency_slo_micros, max_in_flight, launch_class } = request;
  const policy = changedPolicy(present.policy, request.policy);
  const presentLoss = present.fileLoss === undefined ? present.loss : { name: present.fileLoss };
  const loss = changed<NonNullable<AddApplicationRequest['loss']>>(presentLoss, request.loss);
  const isUsed =
    policy.name === FILE_POLICY || (loss !== undefined && !LOSS_NAMES.some((one) => one === loss.name));
  const fields = {
    name: present.name,
    input_type: inputType,
    default_output: default_output ?? present.defaultOutput,
    latency_slo_micros: latency_slo_micros ?? present.latencyObjectiveUs,
    max_in_flight: changed(present.maxInFlight, max_in_flight),
    strict: request.strict ?? present.strict ?? false,
    policy,
    launch_class: changed(present.launchClass, launch_class),
    context_ttl_days: changed(present.contextTtlDays, request.context_ttl_days),
    loss,
    loss_of_late: changed(present.lossOfLate, request.loss_of_late),
  };
  // One that was there for what is another now goes.
  return applicationRecord(fields, isUsed || request.policy_file !== undefined ? policyFile : undefined);
}

/** Parameters of one policy mean nothing to another. */
function changedPolicy(present: PolicyChoice, wanted: SetApplicationRequest['policy'] = {}): PolicyChoice {
  const { name = present.name, parameters = name === present.name ? present.parameters : {} } = wanted;
  return { name, parameters };
}

/** null takes it away, undefined leaves it. */
function changed<T>(present: T | undefined, wanted: T | null | undefined): T | undefined {
  if (wanted === undefined) return present;
  return wanted ?? undefined;
}
