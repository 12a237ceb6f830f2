/** Configurations as text: the effective one with its origins, and the example with what each setting is for. */

import { stringify } from 'smol-toml';
import type { Loaded } from './load.ts';
import { redact, visible } from './secrets.ts';
import { describe, type Entry } from './setting.ts';
import { type Config, ENTRIES, SETTINGS, valueIn } from './settings.ts';

/** The configuration as TOML: each value with where it comes from, what is not set as a comment. */
export function configAsToml({ config, origins }: Loaded): string {
  const lines = groups().flatMap(([, entries]) => [
    `[${entries[0].table}]`,
    ...entries.map((entry) => {
      const value = valueIn(config, entry);
      if (value === undefined) return `# ${entry.key}: ${entry.setting.otherwise ?? 'not set'}`;
      return `${line(entry, visible(entry.setting, value))}  # ${origins.get(entry.path)?.where ?? 'default'}`;
    }),
    '',
  ]);
  return redact(lines.join('\n'));
}

/** The same as one object: by the settings' paths, `{ value, origin, where }`; `value` is null where none is set. */
export function configAsJson({ config, origins }: Loaded): string {
  const rows = ENTRIES.map((entry) => {
    const { layer, where } = origins.get(entry.path) ?? { layer: 'default', where: 'default' };
    return [entry.path, { value: visible(entry.setting, valueIn(config, entry)) ?? null, origin: layer, where }];
  });
  return `${redact(JSON.stringify(Object.fromEntries(rows), undefined, 2))}\n`;
}

/**
 * A commented TOML file that names every setting: what is left as it is by default is commented out.
 * @param values what to set, as `pickaxe init` finds out
 */
export function exampleToml(values: { readonly [G in keyof Config]?: Partial<Config[G]> } = {}): string {
  const lines = groups().flatMap(([about, entries]) => [
    '',
    `# ${about}`,
    `[${entries[0].table}]`,
    ...entries.flatMap((entry) => {
      const { setting, flag, variable } = entry;
      const value = valueIn(values, entry);
      return [
        '',
        `# ${describe(setting)}`,
        `# ${flag === undefined ? variable : `${flag}, ${variable}`}`,
        value === undefined ? `# ${line(entry, setting.default ?? setting.example)}` : line(entry, value),
      ];
    }),
  ]);
  return `${HEADING}\n${lines.join('\n')}\n`;
}

const HEADING = `# pickaxe's configuration: ./pickaxe.toml, or config.toml in the user's configuration directory.
# Take away a "# " before a setting to set it. Flags and environment variables, named below, go before this file.
# [hooks], [webhook] and the path of [log-file] are not taken from a ./pickaxe.toml that was only found: name it, --config.
# Only "pickaxe init" writes such files; "pickaxe config check" checks them.`;

function groups(): [about: string, entries: Entry[]][] {
  return Object.entries(SETTINGS).map(([group, { about }]) => [
    about,
    ENTRIES.filter((entry) => entry.group === group),
  ]);
}

function line({ key }: Entry, value: unknown): string {
  return stringify({ [key]: value }).trimEnd();
}
