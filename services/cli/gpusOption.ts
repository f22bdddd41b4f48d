import { InvalidArgumentError } from 'commander';
import { withForm } from './configuration/index.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';

/** Of one node: that many address windows a context has. */
export const MOST_GPUS = 32;
/** Each is a thread. */
export const MOST_NODES = 64;

/** Parser of an option that takes cards with commas between, one for each GPU of a node. */
export const cardList = withForm({ kind: 'list', isRepeated: false }, cardsOf);

function cardsOf(text: string): readonly string[] {
  const cards = text.split(',').map((card) => card.trim());
  if (cards.includes(''))
    throw new InvalidArgumentError('expected cards with commas between, such as h200,h200,a100.');
  if (cards.length > MOST_GPUS)
    throw new InvalidArgumentError(
      `a node has at most ${MOST_GPUS} GPUs, ${cards.length} came; give more --nodes.`,
    );
  return cards;
}

/** @throws CommandError (as a rejection) naming the card that there is not, and those that there are */
export async function checkedCards(option: string, cards: readonly string[]): Promise<readonly string[]> {
  const { PROFILE_NAMES } = await import('../../simulator/gpu/index.js');
  for (const card of cards) {
    if (PROFILE_NAMES.includes(card)) continue;
    throw new CommandError(`${option}: there is no card '${card}', only ${PROFILE_NAMES.join(', ')}`);
  }
  return cards;
}

/** The same, or the number of GPUs, whose cards are those that there are anyway. */
export function cardListOrCount(text: string): readonly string[] | number {
  return /^\s*-?\d+\s*$/.test(text) ? wholeNumber(1, MOST_GPUS)(text) : cardList(text);
}
