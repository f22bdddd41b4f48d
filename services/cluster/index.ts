export { ClusterError } from './clusterError.js';
export { Lease, type LeaseOptions } from './lease.js';
export {
  Announcement,
  RosterWatch,
  type Member,
  type MemberKind,
  type MembershipOptions,
  type Roster,
} from './membership.js';
