/**
 * A terminal to run things in, as a person sees it: tmux, with a server of its own. Without it tests on a terminal are
 * skipped and say so, except in CI, where they fail.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { isolated, MAIN } from './pickaxe.ts';

export const noTmux = spawnSync('tmux', ['-V']).status !== 0;
if (noTmux && process.env.CI) throw new Error('CI must try the terminal: install tmux');
/** Part of the names of tests. */
export const why = noTmux ? ' (skipped: no tmux)' : '';

/** Time limit for the output of a command while other tests run. */
const PATIENCE_MS = 60_000;

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

export class Terminal {
  /** The folder and the home of the shell. */
  readonly directory = mkdtempSync(join(tmpdir(), 'pickaxe-tmux-'));

  /** A shell in an empty folder, with the command line to be tested as `pickaxe`. */
  constructor({ columns = 100, rows = 30, env = {} }: TerminalOptions = {}) {
    const { CI: _, NO_COLOR: _1, ...rest } = isolated.env;
    const own = { HISTFILE: '', HOME: this.directory, XDG_CONFIG_HOME: join(this.directory, '.config') };
    const size = ['-x', String(columns), '-y', String(rows)];
    const shell = 'bash --norc --noprofile -i';
    const session = ['-f', '/dev/null', 'new-session', '-d', ...size, '-c', this.directory, shell];
    this.#tmux(session, { ...rest, TERM: 'xterm-256color', ...own, ...env });
    this.type(`PS1='$ '; pickaxe() { "${process.execPath}" "${MAIN}" "$@"; }; clear\n`);
  }

  /** Types a text; a line break is the Enter key. */
  type(text: string): void {
    for (const [i, line] of text.split('\n').entries()) {
      if (i > 0) this.press('Enter');
      if (line !== '') this.#tmux(['send-keys', '-l', '--', line]);
    }
  }

  /** Keys by tmux's names: `Enter`, `C-c`, `Up`. */
  press(...keys: string[]): void {
    this.#tmux(['send-keys', ...keys]);
  }

  resize(columns: number, rows = 30): void {
    this.#tmux(['resize-window', '-x', String(columns), '-y', String(rows)]);
  }

  /** @returns the rows of the screen, without empty ones at the end */
  rows(): string[] {
    return this.#tmux(['capture-pane', '-p']).trimEnd().split('\n');
  }

  /**
   * @returns the whole history of the screen, with wrapped lines joined.
   * @param escapes whether to include escape codes
   */
  text({ escapes = false } = {}): string {
    return this.#tmux(['capture-pane', '-p', '-J', '-S', '-', ...(escapes ? ['-e'] : [])]);
  }

  /** Records the terminal from now on. @returns a function that returns every byte written to it since */
  record(): () => string {
    const file = join(this.directory, 'recorded');
    writeFileSync(file, '');
    this.#tmux(['pipe-pane', `cat >> '${file}'`]);
    return () => readFileSync(file, 'utf8');
  }

  async sees(pattern: RegExp | string, timeout = PATIENCE_MS): Promise<void> {
    const seen = () => (typeof pattern === 'string' ? this.text().includes(pattern) : pattern.test(this.text()));
    await vi.waitFor(
      () => {
        if (!seen()) throw new Error(`${pattern} is not on the screen:\n${this.text()}`);
      },
      { timeout, interval: 100 },
    );
  }

  /** Clears the screen and its history, except for the shell's prompt. */
  async wipe(): Promise<void> {
    this.press('C-l');
    const isClear = () => {
      if (this.rows().join() !== '$') throw new Error('it is not cleared yet');
    };
    await vi.waitFor(isClear, { timeout: PATIENCE_MS, interval: 50 });
    this.#tmux(['clear-history']);
  }

  async close(): Promise<void> {
    this.#tmux(['kill-server']);
    // A program that ran in the terminal may still be writing its last lines.
    const remove = () => rmSync(this.directory, { recursive: true, force: true });
    await vi.waitFor(remove, { timeout: PATIENCE_MS, interval: 100 });
  }

  #tmux(args: string[], env: NodeJS.ProcessEnv = process.env): string {
    const socket = ['-u', '-S', join(this.directory, 'tmux')];
    const { status, stdout, stderr } = spawnSync('tmux', [...socket, ...args], { encoding: 'utf8', env });
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}
