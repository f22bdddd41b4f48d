import type { ContextState, DriverState, EventState } from './driverState.js';
import { Refusal } from './refusal.js';

/** Events by the numbers that submitters give them. One that is used before anybody created it takes no time stamps. */
export class EventTable {
  constructor(private readonly state: DriverState) {}

  create(context: ContextState, id: number, timing: boolean): void {
    checkNumber('event', id);
    if (context.events.has(id)) {
      throw new Refusal('invalidValue', `event: context ${context.id} has an event ${id} already`);
    }
    context.events.set(id, { timing, record: 0 });
  }

  /** Waits under way name the record and not the event, and stay good. */
  destroy(context: ContextState, id: number): void {
    this.require(context, 'event', id);
    context.events.delete(id);
  }

  /** Made if it is not there. */
  use(context: ContextState, id: number): EventState {
    checkNumber('event', id);
    let event = context.events.get(id);
    if (event === undefined) context.events.set(id, (event = { timing: false, record: 0 }));
    return event;
  }

  require(context: ContextState, field: string, id: number): EventState {
    const event = context.events.get(id);
    if (event === undefined) {
      throw new Refusal('invalidHandle', `${field}: context ${context.id} has no event ${id}`);
    }
    return event;
  }

  isReady(event: EventState): boolean {
    return !this.state.pending.has(event.record);
  }

  /** Milliseconds between the latest records of two events. */
  elapsedMs(context: ContextState, start: number, end: number): number {
    return Math.fround((this.stampNs(context, 'end', end) - this.stampNs(context, 'start', start)) / 1e6);
  }

  private stampNs(context: ContextState, field: string, id: number): number {
    const event = this.require(context, field, id);
    if (!event.timing) {
      throw new Refusal(
        'invalidHandle',
        `${field}: event ${id} takes no time stamps; create it with timing: true`,
      );
    }
    if (event.record === 0) {
      throw new Refusal('invalidHandle', `${field}: event ${id} was never recorded`);
    }
    if (!this.isReady(event) || event.recordedNs === undefined) {
      throw new Refusal('notReady', `${field}: the latest record of event ${id} has not happened yet`);
    }
    return event.recordedNs;
  }
}

function checkNumber(field: string, id: number): void {
  if (!Number.isSafeInteger(id) || id < 0) {
    throw new Refusal('invalidHandle', `${field}: ${id} is not a whole number, 0 or more`);
  }
}
