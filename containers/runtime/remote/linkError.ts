/** Why a frontend and a node do not work together, or no longer do. */
export type LinkErrorCode =
  /** One of them has another key, or does not prove that it has any. */
  | 'wrong_cluster_key'
  /** One of them asks for a key, the other has none. */
  | 'cluster_key_missing'
  /** They speak no version of the protocol in common. */
  | 'protocol_version'
  /** The node has another name than the one that was dialled. */
  | 'node_name'
  /** A later connection of the same frontend is there already. */
  | 'stale_connection'
  /** What came is no part of the protocol. */
  | 'protocol'
  /** It did not say who it is in time. */
  | 'handshake_timeout'
  /** Nothing came for too long. */
  | 'silent'
  /** The node has as many frontends as it takes. */
  | 'too_many_connections'
  /** Reached from other machines, with nothing that keeps others out. */
  | 'insecure_listen'
  /** Nothing can be dialled, or listened on, so. */
  | 'address'
  /** The connection broke, or could not be made. */
  | 'connection'
  /** One of the sides ended it. */
  | 'closed';

export const LINK_ERROR_CODES: readonly LinkErrorCode[] = [
  'wrong_cluster_key',
  'cluster_key_missing',
  'protocol_version',
  'node_name',
  'stale_connection',
  'protocol',
  'handshake_timeout',
  'silent',
  'too_many_connections',
  'insecure_listen',
  'address',
  'connection',
  'closed',
];

/** Says what is wrong between a frontend and a node, and what to do about it. */
export class LinkError extends Error {
  override readonly name = 'LinkError';

  constructor(
    readonly code: LinkErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
