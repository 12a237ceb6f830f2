// The recorded counts of instructions that GPU compilers make of the kernel, and the comparison with new ones.

import { existsSync, readFileSync } from 'node:fs';

export const RECORD = new URL('./instructions.json', import.meta.url);

/** @returns the recorded rows, each `{ families, compiler, variant, set, instructionsPerNonce, … }` */
export const recorded = () => (existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')).rows : []);

/** @returns the text of the record: a line for each group of rows, so that changes are easy to read */
export function recordOf(rows) {
  const lines = grouped(rows).map(({ operations, pipes, ...row }) => JSON.stringify(row));
  return `{ "rows": [\n${lines.join(',\n')}\n] }\n`;
}

/** @returns rows with `families` instead of `family`: one row for all families whose figures are the same */
export function grouped(rows) {
  const groups = new Map();
  for (const { family, ...row } of rows) {
    const { compiler, variant, set, instructionsPerNonce, registers, spills, waves } = row;
    const key = JSON.stringify([compiler, variant, set, instructionsPerNonce, registers, spills, waves]);
    if (!groups.has(key)) groups.set(key, { families: [], ...row });
    groups.get(key).families.push(family);
  }
  return [...groups.values()];
}

/** @returns one family of each recorded row; compilers make the same kernel for the row's other families */
export const representatives = (record) => [...new Set(record.map(({ families }) => families[0]))];

/**
 * A version of a compiler always makes the same of a kernel, so a single instruction more is a change of the kernel.
 * @param record recorded rows. Those by another version of a compiler are not compared
 * @param rows new ones
 * @param wanted the families that were to be compiled
 * @returns for people, one line each: counts that grew, spills, and recorded families that were not compiled
 */
export function worseThan(record, rows, wanted) {
  const compared = new Set(rows.map(({ compiler }) => compiler));
  return record
    .filter(({ compiler }) => compared.has(compiler))
    .flatMap((before) =>
      before.families
        .filter((family) => wanted.includes(family))
        .flatMap((family) => {
          const { compiler, variant, instructionsPerNonce } = before;
          const now = rows.find((row) => row.family === family && row.compiler === compiler && row.variant === variant);
          const name = `${variant} for ${family} (${compiler})`;
          if (!now) return [`${name} was recorded and is not compiled now`];
          return [
            ...(now.instructionsPerNonce > instructionsPerNonce
              ? [`${name} takes ${now.instructionsPerNonce} instructions a nonce, and took ${instructionsPerNonce}`]
              : []),
            ...(now.spills > before.spills ? [`${name} spills ${now.spills}`] : []),
          ];
        }),
    );
}
