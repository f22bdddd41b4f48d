/** Who a replica is. */
export interface ReplicaIdentity {
  readonly model: string;
  readonly version: string;
  readonly replica: string;
}
