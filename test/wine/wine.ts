/**
 * Runs Windows' node.exe under Wine, in a Windows of its own for each file of tests. Where Wine or node.exe is missing, tests are
 * skipped and say so, except in CI, where they fail.
 */

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../cli/pickaxe.ts';
import { windowsNode } from './windows-node.mjs';

/** Debian keeps Wine's 64-bit programs off the PATH. */
const DEBIAN = '/usr/lib/wine/';
const wine = ['wine64', 'wine', `${DEBIAN}wine64`].find((name) => spawnSync(name, ['--version']).status === 0);
const server = ['wineserver', `${DEBIAN}wineserver64`].find((name) => spawnSync(name, ['--version']).status === 0);

function whyNot(): string | undefined {
  if (wine === undefined || server === undefined) return 'there is no Wine (on Debian: apt-get install wine64)';
  if (!existsSync(windowsNode)) return 'there is no node.exe (node test/wine/windows-node.mjs downloads it)';
  return undefined;
}

const missing = whyNot();
if (missing !== undefined && process.env.CI) throw new Error(`CI must try Windows: ${missing}`);
export const noWine = missing !== undefined;
/** Part of the names of tests. */
export const why = noWine ? ` (skipped: ${missing})` : '';

/** Wine 8 refuses a connection for which TCP keep-alive was asked, as undici asks for. Nothing else of Node.js is changed. */
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

export class Windows {
  /** A folder of this system, for the tests' files. */
  readonly folder = mkdtempSync(join(tmpdir(), 'pickaxe-wine-'));
  /** The drive C:. */
  readonly drive = join(this.folder, 'prefix', 'drive_c');
  /** The environment of Wine. No display is used. */
  readonly env: Readonly<Record<string, string>> = {
    PATH: process.env.PATH ?? '',
    LANG: 'C.UTF-8',
    // Wine would link the user's folders to those of this home.
    HOME: join(this.folder, 'home'),
    WINEPREFIX: join(this.folder, 'prefix'),
    WINEDEBUG: '-all',
    // Without these two, Wine would ask to install them.
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    NODE_OPTIONS: `--require=${windowsPath(SOCKETS).replaceAll('\\', '/')}`,
    NO_COLOR: '1',
  };
  #files = 0;

  /** Makes a Windows 10, which takes several seconds. */
  static async open(): Promise<Windows> {
    const made = new Windows();
    for (const folder of ['home', 'prefix', 'empty']) mkdirSync(join(made.folder, folder));
    await made.run('wineboot', ['--init']);
    // A new prefix is Windows 7, on which Node.js does not start.
    const { code, stderr } = await made.run('winecfg', ['/v', 'win10']);
    if (code !== 0) throw new Error(`Wine could not be set up: ${stderr}`);
    return made;
  }

  /** Ends this Windows with everything that runs in it, and removes it. */
  close(): void {
    // Wine's server ends by itself only some seconds after the last program.
    for (const flag of ['--kill', '--wait']) spawnSync(server!, [flag], { env: this.env });
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** The words of a command that runs a program of Windows. */
  command(program: string, args: readonly string[]): string[] {
    return [wine!, program, ...args];
  }

  /** Runs a program of Windows. Its input and output are files: Node.js makes sockets for pipes, which Wine cannot use. */
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
    return this.node([windowsPath(MAIN), ...args], options);
  }
}
