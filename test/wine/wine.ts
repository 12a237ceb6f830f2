/**
 * Runs pickaxe by Windows' node.exe under Wine, in a Windows of its own for each file of tests. Where Wine or node.exe
 * is missing, tests are skipped and say so, except in CI, where they fail.
 */

import { spawn } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { areDownloaded, windowsNode } from '../foreign/programs.mjs';
import { copyWindows, endWine, wineCommand, wineEnvironment, wineServer } from '../foreign/wine.mjs';
import { makeFreshCopy } from '../native/fresh-copy.ts';

function whyNot(): string | undefined {
  if (wineCommand === undefined || wineServer === undefined)
    return 'there is no Wine (on Debian: apt-get install wine64)';
  if (!areDownloaded()) return 'there is no node.exe or no Windows (node test/foreign/programs.mjs prepares both)';
  return undefined;
}

const missing = whyNot();
if (missing !== undefined && process.env.CI) throw new Error(`CI must try Windows: ${missing}`);
export const noWine = missing !== undefined;
/** Part of the names of tests. */
export const why = noWine ? ` (skipped: ${missing})` : '';

/**
 * Wine 8 refuses a connection for which TCP keep-alive was asked, as undici asks for. Nothing else of Node.js is
 * changed.
 */
const SOCKETS = fileURLToPath(new URL('./without-keep-alive.cjs', import.meta.url));
/** Far longer than any command takes. None may hang the tests. */
const RUN_MS = 300_000;

export interface WineRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WineOptions {
  readonly env?: Record<string, string>;
  /** A path of this system. The default is an empty folder. */
  readonly cwd?: string;
  readonly input?: string;
}

/** @returns the path under which Windows' programs find a file of this system */
export const windowsPath = (path: string) => `Z:${path.replaceAll('/', '\\')}`;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where pickaxe is installed: a path with blanks, umlauts and a character beyond the first 65,536. */
const PROGRAM = ['Program Files', 'pickaxe für 𝄞'];

export class Windows {
  /** A folder of this system, for the tests' files. */
  readonly folder = mkdtempSync(join(tmpdir(), 'pickaxe-wine-'));
  /** The drive C:. */
  readonly drive = join(this.folder, 'prefix', 'drive_c');
  /** The package as it is published, with its dependencies. */
  readonly installed = join(this.drive, ...PROGRAM);
  readonly main = `C:\\${[...PROGRAM, 'dist', 'cli', 'main.js'].join('\\')}`;
  readonly env: Readonly<Record<string, string>> = {
    ...wineEnvironment(this.folder),
    LANG: 'C.UTF-8',
    NODE_OPTIONS: `--require=${windowsPath(SOCKETS).replaceAll('\\', '/')}`,
    NO_COLOR: '1',
  };
  #files = 0;

  /**
   * Makes a Windows 10 with pickaxe installed.
   * @param addons the folder of the prebuilt addons that pickaxe is to have; by default it has none
   */
  static open(addons?: string): Windows {
    const made = new Windows();
    try {
      mkdirSync(join(made.folder, 'empty'));
      copyWindows(made.folder);
      made.#install(addons);
      return made;
    } catch (fault) {
      made.close();
      throw fault;
    }
  }

  #install(addons: string | undefined): void {
    makeFreshCopy(this.installed, []);
    // All packages: Wine does not tell Node.js where a link leads, so a package would not find its own dependencies.
    symlinkSync(join(root, 'node_modules'), join(this.installed, 'node_modules'));
    rmSync(join(this.installed, 'native/addons'), { recursive: true, force: true });
    if (addons !== undefined) cpSync(addons, join(this.installed, 'native/addons'), { recursive: true });
  }

  /** Ends this Windows with everything that runs in it, and removes it. */
  close(): void {
    endWine(this.env);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** The words of a command that runs a program of Windows. */
  command(program: string, args: readonly string[]): string[] {
    return [...wineCommand!, program, ...args];
  }

  /**
   * Runs a program of Windows. Its input and output are files: Node.js makes sockets for pipes, which Wine cannot use.
   */
  async run(
    program: string,
    args: readonly string[],
    { env = {}, cwd, input = '' }: WineOptions = {},
  ): Promise<WineRun> {
    const name = join(this.folder, `run-${this.#files++}`);
    writeFileSync(`${name}.in`, input);
    const streams = [openSync(`${name}.in`, 'r'), openSync(`${name}.out`, 'wx'), openSync(`${name}.err`, 'wx')];
    const [command, ...rest] = this.command(program, args);
    const child = spawn(command, rest, {
      cwd: cwd ?? join(this.folder, 'empty'),
      env: { ...this.env, ...env },
      stdio: streams,
      timeout: RUN_MS,
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    for (const stream of streams) closeSync(stream);
    return { code, stdout: readFileSync(`${name}.out`, 'utf8'), stderr: readFileSync(`${name}.err`, 'utf8') };
  }

  node(args: readonly string[], options: WineOptions = {}): Promise<WineRun> {
    return this.run(windowsNode, args, options);
  }

  pickaxe(args: readonly string[], options: WineOptions = {}): Promise<WineRun> {
    return this.node([this.main, ...args], options);
  }
}
