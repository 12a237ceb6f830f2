/**
 * How far `pickaxe bench` is, on stderr: on a terminal one line that is rewritten, elsewhere a line in the log when a
 * run begins and when it ends.
 */

import type { Logger } from 'pino';
import { EXIT } from '../app/exit.ts';
import type { Progress } from '../bench/measure.ts';
import type { Config } from '../config/settings.ts';
import { formatHashrate, formatPercent } from '../report/units.ts';
import { isForeground, screen, terminalKind } from '../terminal/screen.ts';
import { formatRate } from './bench-report.ts';

interface BenchProgress {
  tell(device: string, progress: Progress): void;
  /** Removes the line. */
  end(): void;
}

/**
 * @param repeat how many runs each device has
 * @param seconds how long each run measures
 */
export function benchProgress(
  log: Logger,
  format: Config['log']['format'],
  repeat: number,
  seconds: number,
): BenchProgress {
  const hasLine = terminalKind().escapes && format !== 'json' && isForeground();
  return hasLine ? new ProgressLine(repeat) : logged(log, repeat, seconds);
}

function logged(log: Logger, repeat: number, seconds: number): BenchProgress {
  return {
    tell(tag, progress) {
      const { run, step } = progress;
      const which = repeat > 1 ? `run ${run} of ${repeat}: ` : '';
      if (step === 'warming-up') log.info({ tag }, `${which}measuring for ${seconds} s after a warm-up`);
      if (step === 'done') log.info({ tag }, `${which}${formatRate(progress.hashesPerSecond, progress.spread)}`);
    },
    end() {},
  };
}

/** A line for the devices that are being measured, all of them with `--together`. */
class ProgressLine implements BenchProgress {
  readonly #repeat: number;
  readonly #busy = new Map<string, string>();

  constructor(repeat: number) {
    this.#repeat = repeat;
    process.once('SIGINT', this.#interrupted);
  }

  tell(device: string, progress: Progress): void {
    const text = describe(progress);
    if (text === undefined) this.#busy.delete(device);
    else
      this.#busy.set(device, `${device}${this.#repeat > 1 ? ` run ${progress.run} of ${this.#repeat}` : ''} ${text}`);
    this.#draw();
  }

  end(): void {
    process.off('SIGINT', this.#interrupted);
    screen.show('');
  }

  /** The last column stays empty: some terminals break the line as soon as it is written. */
  #draw(): void {
    screen.show([...this.#busy.values()].join('  ').slice(0, screen.columns - 1));
  }

  /** Removes the line, so that the shell's prompt does not share it. */
  readonly #interrupted = (): void => {
    screen.show('');
    // Windows has no signal that ends a process and tells why.
    if (process.platform === 'win32') process.exit(EXIT.interrupted);
    process.kill(process.pid, 'SIGINT');
  };
}

/** @returns undefined when the run is over */
function describe(progress: Progress): string | undefined {
  switch (progress.step) {
    case 'opening':
      return 'starting';
    case 'warming-up':
      return 'warming up';
    case 'measuring': {
      const { done, hashesPerSecond } = progress;
      const rate = hashesPerSecond === undefined ? '' : `, ${formatHashrate(hashesPerSecond)}`;
      return `measuring ${formatPercent(done)}${rate}`;
    }
    case 'searching-challenge':
      return `computing the hash sum ${formatPercent(progress.done)}`;
    case 'done':
    case 'failed':
      return undefined;
  }
}
