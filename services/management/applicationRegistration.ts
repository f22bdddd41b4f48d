import { ServiceError } from '../errors/index.js';
import type { ApplicationRecord, PolicyChoice } from '../registry/index.js';
import type { AddApplicationRequest, SetApplicationRequest } from './schemas.js';

/** The record of an application that is to be registered. */
export function applicationRecord(request: AddApplicationRequest): ApplicationRecord {
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
    ...(request.loss === undefined ? {} : { loss: request.loss }),
    ...(request.loss_of_late === undefined ? {} : { lossOfLate: request.loss_of_late }),
  };
}

/** A registered application's record with what a request changes. @throws ServiceError `input_type_mismatch` */
export function changedApplication(
  present: ApplicationRecord,
  request: SetApplicationRequest,
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
  return applicationRecord({
    name: present.name,
    input_type: inputType,
    default_output: default_output ?? present.defaultOutput,
    latency_slo_micros: latency_slo_micros ?? present.latencyObjectiveUs,
    max_in_flight: changed(present.maxInFlight, max_in_flight),
    strict: request.strict ?? present.strict ?? false,
    policy: changedPolicy(present.policy, request.policy),
    launch_class: changed(present.launchClass, launch_class),
    context_ttl_days: changed(present.contextTtlDays, request.context_ttl_days),
    loss: changed(present.loss, request.loss),
    loss_of_late: changed(present.lossOfLate, request.loss_of_late),
  });
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
