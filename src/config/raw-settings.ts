/** What one place (a file, the environment, the flags) says about settings, before it is checked. */

import { z } from 'zod';

/** Where the value of a setting comes from. */
export interface Origin {
  /** From the strongest layer to the weakest. */
  readonly layer: Layer;
  /** For people: `--threads`, `PICKAXE_THREADS`, `pickaxe.toml:4`, `default`. */
  readonly where: string;
}

/** A setting's value, once it is parsed. */
export interface Valued {
  readonly value: unknown;
  readonly origin: Origin;
  /** Where it stands, for errors. */
  readonly at: string;
}

/** Where something stands in a document: table, key, and in a list its index. */
export type Path = readonly (string | number)[];

/** A document that has the shape of a configuration: tables by their names, with values by the names of settings. */
export type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export interface RawSettings {
  /** Tables of settings, as a file has them; anything else where a file has another shape. */
  readonly document: unknown;
  /** @returns where a path of the document stands, for people: `pickaxe.toml:4`, `--threads` */
  readonly where: (path: Path) => string;
  /** The same for errors, with the column: `pickaxe.toml:4:1`. */
  readonly at: (path: Path) => string;
  /** The absolute path of a file. Paths in it start at its folder. */
  readonly file?: string;
  /** Nobody named the file: it was found in the current folder. */
  readonly unasked?: true;
  /** What is wrong before any setting is looked at: a file that is not in its format. */
  readonly problems?: readonly string[];
  /** What could not be read of a file; the empty path stands for all. */
  readonly unread?: readonly Path[];
}

/* What `--print-config --json` prints. */

const PrintedSetting = z.object({
  /** As a file has it; null where it is not set. Secrets are not shown. */
  value: z.unknown(),
  /** Where it comes from: the project's file, the user's, or another of these. */
  origin: z.enum(['flag', 'environment', 'project', 'user', 'default']),
  /** The flag, the variable, or the file with its line. */
  where: z.string(),
});

/** By the setting's path, as in a file: `cpu.threads`. */
export const PrintedConfig = z.record(z.string(), PrintedSetting);
export type PrintedConfig = z.infer<typeof PrintedConfig>;
/** Where a setting's value can come from. */
type Layer = PrintedConfig[string]['origin'];

/* The error for a configuration: it lists all problems at once, each with its place. */

/** A longer list of problems is cut: these are enough to start with. */
const MAX_TOLD = 20;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each: where it is, what is wrong, what to do. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(tell(problems));
    this.problems = problems;
  }
}

function tell(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0];
  const told = problems.slice(0, MAX_TOLD).map((problem) => `  ${problem}`);
  const more = problems.length > MAX_TOLD ? [`  … and ${problems.length - MAX_TOLD} more`] : [];
  return [`${problems.length} errors in the configuration:`, ...told, ...more].join('\n');
}
