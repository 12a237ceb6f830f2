/** What the log says when the configuration is read again, and when that happens. */

import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LiveConfig, refresh, reloadAtHangup, reloadOnChange } from '#pickaxe/app/composition/reload.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { onHangup } from '#pickaxe/app/process/signals.js';
import { LOG_LINE_OPTIONS } from '#pickaxe/rig/log/log-tail.js';
import { PATIENCE } from '../../patience.ts';
import { Folder } from '../config/folder.ts';
import { idleMiner } from './sidecars/fakes.ts';

vi.mock('#pickaxe/app/process/signals.js');

/** @param level at the start */
function rig(level: Config['log']['level'] = 'info', files: readonly string[] = []) {
  let config: Config = { ...DEFAULTS, log: { ...DEFAULTS.log, level } };
  let fault: Error | undefined;
  const load = async () => {
    if (fault) throw fault;
    return { config, origins: new Map(), files };
  };
  const live = new LiveConfig({ config, origins: new Map(), files }, load);
  const lines: string[] = [];
  const log = pino(
    { ...LOG_LINE_OPTIONS, level },
    {
      write: (line: string) => {
        const { level, message } = JSON.parse(line);
        lines.push(`${level} ${message}`);
      },
    },
  );
  return {
    live,
    log,
    set: (more: Partial<Config>) => {
      config = { ...config, ...more };
    },
    fail: (error?: Error) => {
      fault = error;
    },
    said: () => lines.splice(0),
    read: () => refresh(live, log),
  };
}

const after = (minutes: number) => ({ alarm: { ...DEFAULTS.alarm, after: 60 * minutes } });
const levelOf = (level: Config['log']['level']) => ({ log: { ...DEFAULTS.log, level } });

describe('a configuration that is read again', () => {
  it('takes effect where it can, and the log tells each change once', async () => {
    const { live, set, said, read } = rig();
    const applied = vi.fn();
    live.onChange(applied);
    set({ ...after(7), cpu: { ...DEFAULTS.cpu, threads: 3 } });
    await read();
    expect(said()).toEqual([
      expect.stringMatching(/^info alarm\.after \d+ → 420, from now on$/),
      'warn cpu.threads unset → 3: takes effect at the next start',
    ]);
    expect([live.config.alarm.after, live.config.cpu.threads, applied.mock.calls.length]).toEqual([420, undefined, 1]);
    await read();
    // What could not change is told again, because it is still different.
    expect(said()).toEqual(['warn cpu.threads unset → 3: takes effect at the next start']);
    expect(applied).toHaveBeenCalledTimes(1);
  });

  it('stays as it was if it cannot be used, and the log says why', async () => {
    const { live, set, fail, said, read } = rig();
    set(after(7));
    fail(new UsageError('line 3'));
    await read();
    expect(said()).toEqual(['error the configuration stays as it was: line 3']);
    expect(live.config.alarm.after).toBe(DEFAULTS.alarm.after);
    fail();
    live.beforeChange(() => {
      throw new UsageError('no such node');
    });
    await read();
    expect(said()).toEqual(['error the configuration stays as it was: no such node']);
    expect(live.config.alarm.after).toBe(DEFAULTS.alarm.after);
  });

  it.each([
    ['info', 'warn', true],
    ['info', 'silent', true],
    ['warn', 'debug', true],
    ['silent', 'info', true],
    ['error', 'warn', false],
  ] as const)('tells of a level that changes from %s to %s in the louder of both', async (from, to, isTold) => {
    const { log, set, said, read } = rig(from);
    set(levelOf(to));
    await read();
    expect(said()).toEqual(isTold ? [`info log.level "${from}" → "${to}", from now on`] : []);
    expect(log.level).toBe(to);
  });

  it('calls no listener that has left', async () => {
    const { live, set, read } = rig();
    const applied = vi.fn();
    live.onChange(applied)();
    set(after(7));
    await read();
    expect(applied).not.toHaveBeenCalled();
  });
});

describe('the configuration is read again', () => {
  it('at SIGHUP without a terminal, until the end', async () => {
    const { live, set } = rig();
    const { running, said } = idleMiner();
    const release = vi.fn();
    vi.mocked(onHangup).mockReset().mockReturnValue(release);
    const end = await (await reloadAtHangup(live))(running);
    set(after(7));
    const [[hangUp]] = vi.mocked(onHangup).mock.calls;
    hangUp();
    await vi.waitFor(() => expect(live.config.alarm.after).toBe(420), PATIENCE);
    expect(said[0]).toEqual({
      level: 'info',
      msg: 'SIGHUP without a terminal: the configuration is read again, and mining goes on',
    });
    await end();
    expect(release).toHaveBeenCalledOnce();
  });

  it('when one of its files has changed, and there is nothing to watch without a file', async () => {
    expect(await reloadOnChange(rig().live)).toBeUndefined();
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    const file = folder.write('pickaxe.toml', '# one\n');
    const { live, set } = rig('info', [file]);
    const { running } = idleMiner();
    const end = await (await reloadOnChange(live))!(running);
    onTestFinished(end);
    set(after(7));
    let written = 0;
    // The file may be written before the system watches it.
    await vi.waitFor(
      () => {
        if (live.config.alarm.after === 420) return;
        folder.write('pickaxe.toml', `# ${'x'.repeat(++written)}\n`);
        throw new Error('the change was not noticed yet');
      },
      { ...PATIENCE, interval: 1_000 },
    );
  });
});
