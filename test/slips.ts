/** Slips of the pen: a letter that is lost, doubled, swapped or one too many, and a line that is there twice. */

import { seededRandom } from '#pickaxe/mock-node/random.js';

const STRAY = '=:[]{}"\'#.,- \n';

/** @returns variants of a text with one slip each, which are the same in each run */
export function slipsIn(text: string, count: number): string[] {
  const random = seededRandom(text.length);
  const below = (limit: number) => Math.floor(random() * limit);
  const slips = [
    (before: string, after: string) => before + after.slice(1),
    (before: string, after: string) => before + after[0] + after,
    (before: string, after: string) => before + (after[1] ?? '') + after[0] + after.slice(2),
    (before: string, after: string) => before + STRAY[below(STRAY.length)] + after,
    (before: string, after: string) => before + before.slice(before.lastIndexOf('\n')) + after,
  ];
  return Array.from({ length: count }, () => {
    const at = below(text.length);
    return slips[below(slips.length)](text.slice(0, at), text.slice(at));
  });
}
