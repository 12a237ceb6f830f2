// The built program in a process of its own, for a user without settings, and what it prints. It is killed with this
// process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { freshUser } from './fresh-user.mjs';

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

// A signal alone would end this process without the listeners of `exit`, which end the child processes.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

export class BuiltPickaxe {
  pid;
  isKilled = false;
  /** The lines of `--json` so far, each with `atMs`: the time of reading, on the clock that all processes share. */
  lines = [];
  /** The lines of its log so far. */
  log = [];
  /** Resolves to its exit code, or to the signal that has ended it. */
  ended;
  #child;
  #logLines;
  #listeners = new Set();
  #begun;

  /**
   * @param args of the command line
   * @param user from `freshUser()`; programs of one user share settings and files
   * @param files how many files the program may have open
   */
  constructor(args, { user = freshUser(), files } = {}) {
    const isJson = args.includes('--json');
    const command = [process.execPath, cli, ...args];
    const [program, ...rest] = files ? ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`, ...command] : command;
    const child = spawn(program, rest, { ...user, stdio: ['ignore', isJson ? 'pipe' : 'ignore', 'pipe'] });
    this.#child = child;
    this.pid = child.pid;
    const kill = () => child.kill('SIGKILL');
    process.on('exit', kill);
    this.ended = once(child, 'close').then(([code, signal]) => {
      process.off('exit', kill);
      return code ?? signal;
    });
    this.#logLines = createInterface({ input: child.stderr });
    this.#logLines.on('line', (line) => this.log.push(line));
    const lines = isJson ? createInterface({ input: child.stdout }) : this.#logLines;
    this.#begun = once(lines, 'line');
    if (!isJson) return;
    lines.on('line', (text) => {
      const line = { ...JSON.parse(text), atMs: systemClock.monotonicMs() };
      this.lines.push(line);
      for (const listen of this.#listeners) listen(line);
    });
  }

  /** Calls the listener with each later line of `--json`. */
  onLine(listen) {
    this.#listeners.add(listen);
  }

  of(type) {
    return this.lines.filter((line) => line.type === type);
  }

  /**
   * @param pattern with one group
   * @returns what the group has in the first line of the log that matches, as soon as there is one
   * @throws Error when the program ends without it
   */
  async logged(pattern) {
    for (;;) {
      const [, found] = this.log.map((line) => pattern.exec(line)).find(Boolean) ?? [];
      if (found) return found;
      const next = once(this.#logLines, 'line').then(() => undefined);
      const exit = await Promise.race([next, this.ended.then((code) => ({ code }))]);
      if (exit) throw new Error(`pickaxe ended with ${exit.code}:\n${this.log.slice(-10).join('\n')}`);
    }
  }

  /** Suspends the process, whose connections stay open. */
  freeze() {
    this.#child.kill('SIGSTOP');
  }

  thaw() {
    this.#child.kill('SIGCONT');
  }

  async kill() {
    this.isKilled = true;
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** @returns its exit code. A process that has printed nothing yet does not handle signals. */
  async stop() {
    await Promise.race([this.#begun, this.ended]);
    if (!this.isKilled) this.#child.kill('SIGTERM');
    return await this.ended;
  }
}

/** The URL of the HTTP server, in a line of the log. */
export const HTTP_URL = /listening at (http:\/\/127\.0\.0\.1:\d+)/;
export const STRATUM_PORT = /listening at stratum\+\w+:\/\/127\.0\.0\.1:(\d+)/;
