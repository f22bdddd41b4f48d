/**
 * Tells on standard error that nothing was measured on a card.
 * @param asked the card as it was asked for; its name unless given
 */
export function noteUnmeasured(
  card: { readonly device: string; readonly measured: boolean },
  asked: string = card.device,
): void {
  if (card.measured) return;
  process.stderr.write(
    `${card.device}: nothing was measured on this card, its times follow from public figures (\`gpu devices ${asked}\`)\n`,
  );
}
