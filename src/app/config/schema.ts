/** The schema of configuration files, as a zod schema, and as a JSON Schema for editors. */

import { z } from 'zod';
import { printed } from './setting-types/basic.ts';
import { ENTRIES, SETTINGS } from './settings.ts';
import { describe } from './settings-table.ts';

/** Key with which a configuration file names the address of its JSON Schema, for editors. */
const SCHEMA_KEY = '$schema';

export const fileSchema = z.strictObject({
  [SCHEMA_KEY]: z.string().optional().meta({ description: 'where this schema is, for editors' }),
  ...Object.fromEntries(tables()),
});

function tables() {
  return Object.entries(SETTINGS).map(([group, { about }]) => {
    const entries = ENTRIES.filter((entry) => entry.group === group);
    const settings = entries.map(({ key, setting }) => [key, setting.type.schema(z).optional()] as const);
    const table = z.strictObject(Object.fromEntries(settings)).meta({ description: about });
    return [entries[0].table, table.optional()] as const;
  });
}

/** @returns the JSON Schema of configuration files, in draft 2020-12 */
export function jsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(fileSchema, { target: 'draft-2020-12', io: 'input' });
  const properties = rest.properties as Readonly<Record<string, { readonly properties: Record<string, object> }>>;
  // zod omits defaults and examples of types that convert a file's value, so defaults and examples are added here.
  for (const { table, key, setting } of ENTRIES) {
    const { type, default: value, example } = setting;
    Object.assign(properties[table].properties[key], {
      description: describe(setting),
      ...(value !== undefined && { default: printed(type, value) }),
      ...(example !== undefined && { examples: [example] }),
    });
  }
  return { $schema, title: 'pickaxe configuration', ...rest };
}
