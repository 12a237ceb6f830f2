/** A folder for a test file's configuration files, and a loader that finds settings nowhere else. */

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Loaded, loadConfig, type Places } from '#pickaxe/app/config/load.js';
import { ConfigError } from '#pickaxe/app/config/raw-settings.js';

export class Folder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'pickaxe-')));

  write(file: string, text: string | Uint8Array): string {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o600); // whatever the umask is
    return path;
  }

  /** The folder is both the current one and, in `.config`, the user's. */
  load({ environment = {}, ...places }: Partial<Places> = {}): Loaded {
    return loadConfig({ cwd: this.path, environment, platform: 'linux', home: () => this.path, ...places });
  }

  problems(places: Partial<Places> = {}): readonly string[] {
    return problemsOf(() => this.load(places));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** @returns the problems that a ConfigError lists; none without an error. Any other error fails the test. */
export function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
    return [];
  } catch (fault) {
    if (fault instanceof ConfigError) return fault.problems;
    throw fault;
  }
}
