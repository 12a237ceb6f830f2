/** Prints the effective configuration with the origin of each value, and the example that explains each setting. */

import { stringify } from 'smol-toml';
import type { Loaded } from './load.ts';
import type { PrintedConfig } from './raw-settings.ts';
import { redact, visible } from './secrets.ts';
import { printed } from './setting-types/basic.ts';
import { type Config, ENTRIES, SETTINGS, valueIn } from './settings.ts';
import { describe, type Entry, type Setting } from './settings-table.ts';

/** @returns the configuration as TOML: each value with its origin, and each setting without a value as a comment */
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

/** @returns the configuration as the text of one JSON object, a PrintedConfig */
export function configAsJson({ config, origins }: Loaded): string {
  const rows = ENTRIES.map((entry): [string, PrintedConfig[string]] => {
    const { layer, where } = origins.get(entry.path) ?? ({ layer: 'default', where: 'default' } as const);
    return [entry.path, { value: visible(entry.setting, valueIn(config, entry)) ?? null, origin: layer, where }];
  });
  return `${redact(JSON.stringify(Object.fromEntries(rows), undefined, 2))}\n`;
}

/** @returns the TOML file that `pickaxe init` writes. It has only the given settings, each below its description */
export function settingsToml(values: { readonly [G in keyof Config]?: Partial<Config[G]> }): string {
  const lines = groups().flatMap(([, entries]) => {
    const set = entries.filter((entry) => valueIn(values, entry) !== undefined);
    const ofTable = set.flatMap((entry) => [
      `# ${entry.setting.about}`,
      line(entry, printed(entry.setting.type, valueIn(values, entry))),
    ]);
    return set.length === 0 ? [] : ['', `[${set[0].table}]`, ...ofTable];
  });
  return `${SHORT_HEADING}\n${lines.join('\n')}\n`;
}

/** @returns a TOML file that explains every setting. It sets none, because each line with a value is a comment */
export function exampleToml(): string {
  const lines = groups().flatMap(([about, entries]) => [
    '',
    `# ${about}`,
    `[${entries[0].table}]`,
    ...entries.flatMap((entry) => {
      const { setting, flag, variable } = entry;
      return [
        '',
        `# ${describe(setting)}`,
        `# ${flag === undefined ? variable : `${flag}, ${variable}`}`,
        `# ${line(entry, exampleOf(setting))}`,
      ];
    }),
  ]);
  return `${HEADING}\n${lines.join('\n')}\n`;
}

function exampleOf({ type, default: value, example }: Setting): unknown {
  return value === undefined ? example : printed(type, value);
}

const SHORT_HEADING = `# pickaxe's configuration, written by "pickaxe init"; "pickaxe config check" checks it.
# Every other setting, explained: "pickaxe config example".`;

const HEADING = `# pickaxe's configuration: ./pickaxe.toml, or config.toml in the user's configuration directory.
# To set a setting, remove the "# " before it. Flags and environment variables, named below, override this file.
# What reads secrets, runs commands, opens ports or writes files ([hooks], [webhook], [http] and more) only counts in a file that
# is named with --config, or in the user's own: docs/configuration.md, "Which files are trusted".
# Only "pickaxe init" writes such files; "pickaxe config check" checks them.`;

function groups(): [about: string, entries: Entry[]][] {
  return Object.entries(SETTINGS).map(([group, { about }]) => [
    about,
    ENTRIES.filter((entry) => entry.group === group),
  ]);
}

/** @param value as in a file @returns the setting with this value, as TOML */
function line({ key }: Entry, value: unknown): string {
  return stringify({ [key]: value }).trimEnd();
}
