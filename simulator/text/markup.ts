/**
 * Text as content or attribute of HTML and SVG: markup is shown, and what would be invisible or turn the line around (but tabs and
 * ends of lines) becomes a mark.
 */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\p{Cc}\p{Co}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (sign) =>
      sign === '\t' || sign === '\n' ? sign : '\ufffd',
    );
}
