import { byId, setText } from './dom.js';
import { timeOfDay } from './format.js';
import type { TimeWindow } from './timeWindow.js';

const ZOOM = 2;
const PAN = 0.25;

/** Buttons that choose which part of the time charts show, and the same by keys where a timeline has the focus. */
export class TimeControls {
  private readonly words = byId('time-shown', HTMLElement);
  private readonly buttons: readonly (readonly [HTMLButtonElement, (shown: TimeWindow) => boolean])[];

  constructor(private readonly shown: TimeWindow) {
    const button = (id: string, act: () => void): HTMLButtonElement => {
      const made = byId(id, HTMLButtonElement);
      made.addEventListener('click', act);
      return made;
    };
    this.buttons = [
      [button('zoom-in', () => shown.zoom(ZOOM)), () => true],
      [button('zoom-out', () => shown.zoom(1 / ZOOM)), ({ isWhole }) => !isWhole],
      [button('earlier', () => shown.pan(-PAN)), ({ isWhole }) => !isWhole],
      [button('later', () => shown.pan(PAN)), ({ isWhole }) => !isWhole],
      [button('whole', () => shown.reset()), ({ isWhole }) => !isWhole],
    ];
  }

  draw(): void {
    const { from, to } = this.shown;
    setText(this.words, `${timeOfDay(from)} to ${timeOfDay(to)}`);
    // Disabled ones would lose the focus of whoever has just pressed them.
    for (const [button, isOf] of this.buttons)
      button.setAttribute('aria-disabled', String(!isOf(this.shown)));
  }

  /** Arrows move, plus and minus zoom, Home shows the oldest part, End the newest, 0 all. */
  onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = KEYS[event.key];
    if (act === undefined) return;
    act(this.shown);
    event.preventDefault();
  }
}

const KEYS: Readonly<Record<string, ((shown: TimeWindow) => void) | undefined>> = {
  ArrowLeft: (shown) => shown.pan(-PAN),
  ArrowRight: (shown) => shown.pan(PAN),
  Home: (shown) => shown.pan(-1e6),
  End: (shown) => shown.pan(1e6),
  '+': (shown) => shown.zoom(ZOOM),
  '=': (shown) => shown.zoom(ZOOM),
  '-': (shown) => shown.zoom(1 / ZOOM),
  '0': (shown) => shown.reset(),
};
