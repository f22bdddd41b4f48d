import type { Flight } from './flights.js';

/** The messages of one connection that are not answered yet, by the client's ids, and what their inputs take. */
export class FlightTable {
  inputBytes = 0;
  private readonly flights = new Map<number, Flight>();

  get size(): number {
    return this.flights.size;
  }

  find(id: number): Flight | undefined {
    return this.flights.get(id);
  }

  add(flight: Flight): void {
    this.flights.set(flight.id, flight);
    this.inputBytes += flight.inputBytes;
  }

  /** @returns whether it was there still: a withdrawn one's id may be that of another message by now */
  remove(flight: Flight): boolean {
    if (this.flights.get(flight.id) !== flight) return false;
    this.flights.delete(flight.id);
    this.inputBytes -= flight.inputBytes;
    return true;
  }

  /** Takes all out. */
  clear(): Flight[] {
    const all = [...this.flights.values()];
    this.flights.clear();
    this.inputBytes = 0;
    return all;
  }
}
