export type { ReplicaStatus } from './replica.js';
