/** Checks the settings of one place (a file, the environment, the flags) and parses them into values. */

import { dirname } from 'node:path';
import { problemsOf } from './problems.ts';
import type { Said } from './said.ts';
import { fileSchema } from './schema.ts';
import { ENTRIES } from './settings.ts';
import { rigNamedBy } from './worker-name.ts';

export interface Checked {
  /** Values of the settings, by their paths. */
  readonly values: ReadonlyMap<string, { readonly value: unknown; readonly where: string }>;
  readonly problems: readonly string[];
}

export function check(said: Said): Checked {
  const { error, data } = fileSchema.safeParse(said.document);
  // A list may have several faults, which all get the same sentence.
  const problems = new Set([...(error?.issues.flatMap((issue) => problemsOf(issue, said)) ?? [])]);
  return { values: error ? new Map() : valuesOf(data as Tables, said), problems: [...problems].sort(byLine) };
}

/** Sorts problems by the lines that they begin with. */
const { compare: byLine } = new Intl.Collator('en', { numeric: true });

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

function valuesOf(tables: Tables, said: Said): Checked['values'] {
  const { where, file } = said;
  const values = new Map<string, { value: unknown; where: string }>();
  for (const { table, key, path, setting } of ENTRIES) {
    const value = tables[table]?.[key];
    if (value === undefined) continue;
    const meant = file === undefined ? value : (setting.type.startAt?.(dirname(file), value) ?? value);
    values.set(path, { value: meant, where: where([table, key]) });
  }
  nameRig(values, said);
  return values;
}

/** The settings that name the rig where this place does not set rig.name itself. */
const OWNERS = [
  ['miner', 'public-keys'],
  ['miner', 'account'],
] as const;

function nameRig(values: Map<string, { value: unknown; where: string }>, { document, where }: Said): void {
  if (values.has('rig.name')) return;
  for (const [table, key] of OWNERS) {
    const value = rigNamedBy((document as Tables)[table]?.[key]);
    if (value === undefined) continue;
    values.set('rig.name', { value, where: where([table, key]) });
    return;
  }
}
