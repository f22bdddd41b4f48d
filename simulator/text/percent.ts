/** A share for people: 0.1234 is `12.3 %`. */
export function percent(share: number, decimals = 1): string {
  return `${(100 * share).toFixed(decimals)} %`;
}
