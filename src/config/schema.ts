/** The table of settings as a schema: for zod, and as JSON Schema for editors. */

import { z } from 'zod';
import { printed } from './setting-types/setting-type.ts';
import { ENTRIES, SETTINGS } from './settings.ts';
import { describe } from './settings-table.ts';

/** JSON files may name their schema for editors, under this name at the top. */
const SCHEMA_KEY = '$schema';

/** What a file may have: tables of settings, all of them optional, and nothing else. */
export const fileSchema = z.strictObject({
  [SCHEMA_KEY]: z.string().optional().meta({ description: 'where this schema is, for editors' }),
  ...Object.fromEntries(tables()),
});

function tables() {
  return Object.entries(SETTINGS).map(([group, { about }]) => {
    const entries = ENTRIES.filter((entry) => entry.group === group);
    const settings = entries.map(({ key, setting }) => {
      const { type, default: value, example } = setting;
      const meta = {
        description: describe(setting),
        ...(value !== undefined && { default: printed(type, value) }),
        ...(example !== undefined && { examples: [example] }),
      };
      return [key, type.schema(z).meta(meta).optional()] as const;
    });
    return [
      entries[0].table,
      z.strictObject(Object.fromEntries(settings)).meta({ description: about }).optional(),
    ] as const;
  });
}

/** @returns a JSON Schema (draft 2020-12) of what a configuration file may have */
export function jsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(fileSchema, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: 'pickaxe configuration', ...rest };
}
