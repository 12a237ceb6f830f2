/** When stderr is a terminal, shows the status line below the log and reacts to key presses. */

import type { RunningMiner } from '../../rig/running-miner.ts';
import type { RigStatus } from '../../rig/status/status.ts';
import {
  connection,
  hashrates,
  health,
  help,
  KEYS,
  type KeyName,
  pageLink,
  results,
  type ServedPage,
  workers,
} from '../../rig/terminal/pages.ts';
import {
  FOREGROUND_LOOK_MS,
  inColours,
  inPlain,
  isForeground,
  type Key,
  Keyboard,
  screen,
  terminalKind,
} from '../../rig/terminal/screen.ts';
import { statusLine } from '../../rig/terminal/status-line.ts';
import type { Config } from '../config/settings.ts';
import type { Sidecar } from './run-miner.ts';

const DRAW_MS = 1_000;
/** Time for which a link with a token is shown: long enough to scan its QR code with a camera. */
const SECRET_MS = 60_000;

/**
 * @param usesStdin whether stdin is read for something other than key presses
 * @returns undefined when stderr is not a terminal that interprets escape codes, or when the log or `--json` prints
 *   JSON on the terminal
 */
export function terminal(
  { log, run }: Pick<Config, 'log' | 'run'>,
  usesStdin = false,
  page: () => ServedPage | undefined = () => undefined,
): Sidecar | undefined {
  if (!terminalKind().escapes || log.format === 'json' || (run.json && process.stdout.isTTY)) return undefined;
  return async (running) => {
    const session = new Session(running, run.status, page, !usesStdin && process.stdin.isTTY);
    return () => session.end();
  };
}

const PAGES: Partial<Record<KeyName, (status: RigStatus) => string[]>> = {
  h: hashrates,
  s: results,
  c: connection,
  w: workers,
  e: health,
  '?': help,
};

class Session {
  readonly #running: RunningMiner;
  readonly #hasLine: boolean;
  readonly #paint = terminalKind().colours ? inColours : inPlain;
  readonly #page: () => ServedPage | undefined;
  readonly #keyboard: Keyboard | undefined;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #stopListening: () => void;
  /** Timer that removes a link with a token from the screen. */
  #uncovering: NodeJS.Timeout | undefined;
  /** Whether this process uses the terminal. While it is in the background, another program uses the terminal. */
  #isHere = false;
  /** Whether the line that lists the keys has been printed. */
  #isGreeted = false;

  constructor(running: RunningMiner, hasLine: boolean, page: () => ServedPage | undefined, hasKeys: boolean) {
    this.#running = running;
    this.#hasLine = hasLine;
    this.#page = page;
    if (hasKeys) this.#keyboard = new Keyboard(process.stdin, (key) => this.#pressed(key));
    this.#timers = [setInterval(this.#draw, DRAW_MS), setInterval(this.#arrive, FOREGROUND_LOOK_MS)];
    this.#stopListening = running.events.on(({ type }) => {
      if (type === 'verdict') this.#draw();
    });
    process.stderr.on('resize', this.#draw);
    process.on('SIGCONT', this.#continued);
    // The terminal's usual mode must be restored however the process ends.
    process.on('exit', this.#leave);
    this.#arrive();
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopListening();
    process.stderr.off('resize', this.#draw);
    process.off('SIGCONT', this.#continued).off('exit', this.#leave);
    this.#leave();
  }

  /** Starts to use the terminal if this process is in the terminal's foreground. */
  readonly #arrive = (): void => {
    if (this.#isHere || !isForeground()) return;
    this.#isHere = true;
    this.#keyboard?.open();
    if (this.#keyboard && !this.#isGreeted) this.#print([`keys ${Object.keys(KEYS).join(' ')} (? explains them)`]);
    this.#isGreeted = true;
    this.#draw();
  };

  readonly #draw = (): void => {
    if (!this.#isHere || !this.#hasLine) return;
    screen.show(statusLine(this.#running.tally.status(), screen.columns, this.#paint, this.#keyboard !== undefined));
  };

  readonly #leave = (): void => {
    if (!this.#isHere) return;
    this.#isHere = false;
    this.#keyboard?.close();
    this.#uncover();
    screen.show('');
  };

  /** Handles Ctrl-Z as a terminal does: stops the whole process group. After SIGCONT, the method goes on. */
  #suspend(): void {
    if (process.platform === 'win32') return;
    this.#leave();
    process.kill(0, 'SIGTSTP');
    this.#arrive();
  }

  /**
   * Handles SIGCONT. A shell may be using the terminal now, so this process first checks that it is in the foreground.
   */
  readonly #continued = (): void => {
    this.#isHere = false;
    this.#keyboard?.release();
    this.#arrive();
  };

  #pressed(key: Key): void {
    const wasCovered = screen.isCovered;
    this.#uncover();
    if ('control' in key) {
      if (key.control === 'suspend') this.#suspend();
      else interrupt();
      return;
    }
    if (wasCovered || !(key.typed in KEYS)) return;
    const name = key.typed as KeyName;
    if (name === 'q') interrupt();
    else if (name === 'p') this.#pause();
    else if (name === 'r') this.#resume();
    else if (name === 'l') this.#showLink();
    else this.#print(PAGES[name]!(this.#running.tally.status()));
  }

  /** Asks all devices to pause. The log reports when each of them has paused. */
  #pause(): void {
    this.#print(['pausing all devices; r resumes']);
    this.#running.controls.pause('user', 'by the key p');
  }

  #resume(): void {
    this.#print(['resuming']);
    this.#running.controls.resume('user');
  }

  /** Shows a link with a token for a limited time, and only on the alternate screen, which has no scrollback. */
  #showLink(): void {
    const { columns, rows } = screen;
    const { lines, isSecret } = pageLink(this.#page(), { columns, rows, colours: terminalKind().colours });
    if (!isSecret) {
      this.#print(lines);
      return;
    }
    screen.cover([...lines, 'Press any key to go back. After a minute this goes away by itself.'].join('\n'));
    this.#uncovering = setTimeout(() => this.#uncover(), SECRET_MS);
  }

  #uncover(): void {
    clearTimeout(this.#uncovering);
    screen.uncover();
  }

  #print(lines: readonly string[]): void {
    screen.write(`${lines.map((line) => `  ${line}\n`).join('')}`);
  }
}

/** Acts like Ctrl-C in a terminal: the first call ends mining, and the second call ends the process. */
function interrupt(): void {
  process.emit('SIGINT', 'SIGINT');
}
