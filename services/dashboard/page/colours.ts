/** Colours that the style has for series. */
const COLOURS = 8;
/** Of names that come and go, so many are remembered. */
const MOST_NAMES = 256;

/** Gives each name the next colour, the same one wherever the name is shown. */
export class Colours {
  private readonly known = new Map<string, number>();
  private next = 0;

  /** The custom property that holds the colour. */
  of(name: string): string {
    let at = this.known.get(name);
    if (at === undefined) {
      at = this.next;
      this.next = (this.next + 1) % COLOURS;
      this.known.set(name, at);
      const [oldest] = this.known.keys();
      if (this.known.size > MOST_NAMES) this.known.delete(oldest);
    }
    return `--series-${at}`;
  }
}

const models = new Colours();

/** A model has its colour in every chart, at whatever version. Neither names nor versions have spaces. */
export function modelColour(label: string): string {
  return models.of(label.split(' ')[0]);
}
