import type { Socket } from 'node:net';
import { INTAKE, READING, type IntakeSource, type ReadConnection } from '../../http/index.js';

/** Whether one connection is read from: not in a turn of the event loop that has read enough, nor while its owner has no room. */
export class ReadingPace {
  isPaused = false;
  /** This turn of the event loop has read enough. */
  private isHeld = false;
  private isEnded = false;
  private readonly reading: ReadConnection;
  private readonly intake: IntakeSource;

  /** @param onTurn a turn has room again: tell by `set` whether the owner has. */
  constructor(socket: Socket, onTurn: () => void) {
    this.reading = READING.of(socket);
    this.intake = {
      pause: () => {
        this.isHeld = true;
        this.pause();
      },
      resume: () => {
        this.isHeld = false;
        onTurn();
      },
    };
  }

  /** So many bytes were read, or copied, in this turn. */
  count(bytes: number): void {
    INTAKE.count(bytes, this.intake);
  }

  pause(): void {
    if (this.isPaused || this.isEnded) return;
    this.isPaused = true;
    this.reading.pause();
  }

  /** @param hasRoom whether the owner can take more. */
  set(hasRoom: boolean): void {
    if (!hasRoom || this.isHeld) this.pause();
    else if (this.isPaused && !this.isEnded) this.resume();
  }

  /** Whatever comes is passed over from now on, and must be read to the end: the peer's close frame is behind it. */
  drain(): void {
    this.isEnded = true;
    if (this.isPaused) this.resume();
  }

  /** The connection is gone. */
  end(): void {
    this.isEnded = true;
    INTAKE.forget(this.intake);
  }

  private resume(): void {
    this.isPaused = false;
    this.reading.resume();
  }
}
