/** The element with this id. @throws Error when the page has none, or one of another kind. */
export function byId<E extends Element>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} with id '${id}'`);
  return found;
}

interface Properties {
  readonly class?: string;
  readonly text?: string;
  readonly title?: string;
}

/** A new element. Text goes in as text, whatever it holds. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (properties.class !== undefined) made.className = properties.class;
  if (properties.title !== undefined) made.title = properties.title;
  if (properties.text !== undefined) made.textContent = properties.text;
  made.append(...children);
  return made;
}

/** Writes only what differs: an unchanged live region is not read out again. */
export function setText(of: Element, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Fills a select with these values, keeps the choice while it is among them, and tells whether the choice changed. */
export function setOptions(select: HTMLSelectElement, values: readonly string[]): boolean {
  const before = select.value;
  const present = Array.from(select.options, (option) => option.value);
  if (present.length === values.length && present.every((value, at) => value === values[at])) return false;
  select.replaceChildren(
    ...values.map((value) => {
      const option = element('option', { text: value });
      option.value = value;
      return option;
    }),
  );
  if (values.includes(before)) select.value = before;
  select.disabled = values.length === 0;
  return select.value !== before;
}

/** A custom property of the page's style, as the present scheme has it. */
export function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}
