/** Bad inputs to be expected in a group: about half of such groups are answered. */
const BAD_A_GROUP = 0.7;

/** How many inputs are best asked together where one bad one spoils the answers of all, and so many of `all` are bad. */
export function fittingGroup(bad: number, all: number): number {
  return Math.max(1, Math.floor((BAD_A_GROUP * all) / bad));
}
