export { gpuName, gpuNames, type GpuRoom, type NodeRoom, type RoomHolder } from './nodeRoom.js';
export {
  placeReplica,
  listed,
  type Placement,
  type PlacementOutcome,
  type WantedReplica,
} from './placeReplica.js';
export { withoutHolders, withReplica } from './plannedRooms.js';
export { Reservations } from './reservations.js';
