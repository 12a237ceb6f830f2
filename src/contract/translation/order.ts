/** The order of the definitions in a translated module: each of them after those that it names. */

import { compareTexts } from '../values/values.ts';

/**
 * @param uses the names of the definitions that each definition names, by its own name
 * @returns the names in the order of dialect 5: in the reverse of the order in which a search ends that goes from
 *   definitions to those that name them, and that takes the first names first and the last users first
 */
export function orderOfDefinitions(uses: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const names = [...uses.keys()].sort(compareTexts);
  const users = new Map<string, string[]>();
  for (const user of names.toReversed()) {
    for (const used of uses.get(user) ?? []) {
      const all = users.get(used);
      if (all) all.push(user);
      else users.set(used, [user]);
    }
  }
  const seen = new Set<string>();
  const ended: string[] = [];
  const search = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const user of users.get(name) ?? []) search(user);
    ended.push(name);
  };
  for (const name of names) search(name);
  return ended.reverse();
}
