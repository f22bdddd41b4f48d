import type { ApplicationRecord } from '../registry/index.js';
import type { AddApplicationRequest } from './schemas.js';

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
  };
}
