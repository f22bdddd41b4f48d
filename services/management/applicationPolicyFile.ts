import { LOSS_NAMES, type Json } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import {
  checkFile,
  FILE_POLICY,
  PolicyFileError,
  type CheckedFile,
  type PolicyFile,
} from '../policyFiles/index.js';
import { policyFileHash, type ApplicationRecord, type PolicyFileChoice } from '../registry/index.js';
import type { AddApplicationRequest } from './schemas.js';

/** A policy file that a request brings, or that an application has, once it has been tried. */
export interface TriedPolicyFile {
  readonly choice: PolicyFileChoice;
  readonly file: PolicyFile;
  /** Why its policy does not take what was learned. */
  readonly refused: string | undefined;
}

/**
 * Tries the policy file of a request.
 * @param parameters of the policy, where that is the file's
 * @throws ServiceError (as a rejection) `invalid_policy`
 */
export async function tryPolicyFile(
  { name, content, content_hash: sent }: NonNullable<AddApplicationRequest['policy_file']>,
  parameters: Json,
  learned: Json | undefined = undefined,
): Promise<TriedPolicyFile> {
  const hash = policyFileHash(content);
  if (sent !== undefined && sent !== hash) {
    const message = `policy_file.content_hash is ${sent}, and the content has ${hash}: it was changed on its way, send it again`;
    throw new ServiceError('invalid_policy', message, 'policy_file.content_hash');
  }
  const file = { name, text: content };
  const { refused, ...traits } = await tried(file, parameters, learned);
  const taken = LOSS_NAMES.find((one) => traits.losses.includes(one));
  if (taken !== undefined) {
    const message = `${name}: its loss '${taken}' has the name of one of the server's own, which would be used in its place: give it another`;
    throw new ServiceError('invalid_policy', message, 'policy_file');
  }
  return { choice: { name, hash, traits }, file, refused };
}

/** Tries other parameters with the file that an application has. @throws ServiceError (as a rejection) `invalid_policy` */
export async function tryParameters(
  { policy, policyFile }: ApplicationRecord,
  fileOf: (hash: string) => PolicyFile | undefined,
): Promise<void> {
  if (policy.name !== FILE_POLICY || policyFile === undefined) return;
  const file = fileOf(policyFile.hash);
  if (file === undefined) {
    const message = `the store does not have ${policyFile.name}: send policy_file again`;
    throw new ServiceError('invalid_policy', message, 'policy_file');
  }
  await tried(file, policy.parameters);
}

async function tried(file: PolicyFile, parameters: Json, learned?: Json): Promise<CheckedFile> {
  try {
    return await checkFile(file, { parameters, ...(learned === undefined ? {} : { learned }) });
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error;
    const field = error.field === 'file' ? 'policy_file' : `policy.${error.field}`;
    throw new ServiceError('invalid_policy', error.message, field, { cause: error });
  }
}
