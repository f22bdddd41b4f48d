export { EventLog, MOST_EVENTS, type EventQuery } from './eventLog.js';
export { authorOf, type Author, type EventSubject, type Happening, type ServerEvent } from './event.js';
export { eventFault } from './storedShape.js';
