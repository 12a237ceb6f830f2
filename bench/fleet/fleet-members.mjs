// The built coordinators and rigs of a fleet, in processes of their own, with the lines that they print.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/system/clock.js';
import { freshUser } from '../lib/fresh-user.mjs';

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Nobody has this key's secret. */
const KEY = '0'.repeat(64);

const natsFlags = (urls) => urls.flatMap((url) => ['--nats', url]);

/** @param key the public key that is paid @param more further flags */
export function startCoordinator(name, { nats, node, key = KEY, more = [] }) {
  const onNode = ['--node', node, '--network', 'development', '--public-key', key];
  return new Member(name, ['coordinate', ...natsFlags(nats), ...onNode, '--rig-name', name, ...more]);
}

/** @param more further flags */
export function startRig(name, { nats, threads = 1, more = [] }) {
  const hash = ['--devices', 'cpu', '--threads', String(threads), '--rig-name', name];
  return new Member(name, ['mine', ...natsFlags(nats), ...hash, ...more]);
}

export function startOperator({ nats }) {
  return new Member('operator', ['fleet', ...natsFlags(nats)]);
}

export class Member {
  name;
  pid;
  isKilled = false;
  /** The lines of `--json` so far, each with `atMs`, when it was read, on the clock of all processes. */
  lines = [];
  log = [];
  #child;
  #listeners = new Set();
  #begun;

  constructor(name, args) {
    this.name = name;
    this.#child = spawn(process.execPath, [cli, ...args, '--json'], {
      ...freshUser(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid;
    const kill = () => this.#child.kill('SIGKILL');
    process.on('exit', kill);
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      process.off('exit', kill);
      return code ?? signal;
    });
    const lines = createInterface({ input: this.#child.stdout });
    this.#begun = once(lines, 'line');
    lines.on('line', (text) => {
      const line = { ...JSON.parse(text), atMs: systemClock.monotonicMs() };
      this.lines.push(line);
      for (const listen of this.#listeners) listen(line);
    });
    createInterface({ input: this.#child.stderr }).on('line', (line) => this.log.push(line));
  }

  /** Calls the listener with each line to come. */
  onLine(listen) {
    this.#listeners.add(listen);
  }

  of(type) {
    return this.lines.filter((line) => line.type === type);
  }

  /** It stays connected, and does nothing. */
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

/** @returns the processor time of a process and its threads so far, in seconds */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
