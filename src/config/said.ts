/** What one place (a file, the environment, the flags) says about settings, before it is checked. */

import type { Layer } from './printed-config.ts';

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

export interface Said {
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
