/** Colours that the style has for series. */
const COLOURS = 8;

/** Gives each name the next colour, the same one wherever the name is shown. */
export class Colours {
  private readonly known = new Map<string, number>();

  /** The custom property that holds the colour. */
  of(name: string): string {
    let at = this.known.get(name);
    if (at === undefined) this.known.set(name, (at = this.known.size));
    return `--series-${at % COLOURS}`;
  }
}

const models = new Colours();

/** A model has its colour in every chart, at whatever version. Neither names nor versions have spaces. */
export function modelColour(label: string): string {
  return models.of(label.split(' ')[0]);
}
