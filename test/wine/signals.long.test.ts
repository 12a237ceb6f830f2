/** Ctrl-C, Ctrl-Break and the closing of the console's window on Windows. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { noTmux, Terminal } from '../cli/tmux.ts';
import { windowsNode } from '../foreign/programs.mjs';
import { build, noCompiler, whyNoCompiler } from './mingw.ts';
import { noWine, Windows, why, windowsPath } from './wine.ts';

/** Far longer than a block takes. */
const PATIENCE = { timeout: 90_000, interval: 100 };

describe.skipIf(noWine)(`on Windows${why}`, () => {
  let windows: Windows;
  beforeAll(async () => {
    windows = Windows.open();
  });
  afterAll(() => windows?.close());
  const demo = (...more: string[]) => [windows.main, 'demo', '--devices', 'cpu', '--duration', '300', ...more];

  describe.skipIf(noCompiler)(`without a terminal${whyNoCompiler}`, () => {
    let control: string;
    beforeAll(() => {
      control = join(windows.folder, 'control.exe');
      build('control.c', control, '-municode');
    });

    /** Mines until blocks are accepted and the event has happened. @returns the exit code and the log */
    async function mineUntil(event: number) {
      const [log, go] = ['log', 'go'].map((name) => join(windows.folder, `${name}-${event}`));
      const command = [windowsPath(go), `${event}`, '--', windowsNode, ...demo('--log-file', windowsPath(log))];
      const ended = windows.run(control, command);
      const lines = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
      await vi.waitFor(() => expect(lines()).toContain('accepted ('), PATIENCE);
      writeFileSync(go, '');
      return { ...(await ended), log: lines() };
    }

    it.each([
      ['Ctrl-C', 0],
      ['Ctrl-Break', 1],
      ['closing the window', 2],
    ])('%s ends mining in good order', async (_, event) => {
      const { code, stderr, log } = await mineUntil(event);
      expect({ code, stderr }).toEqual({ code: 0, stderr: log });
      expect(log).toContain('miner stopping; repeat to exit at once\n');
      expect(log).toMatch(/miner \d+ accepted, 0 rejected, .* on average\n(?:.*INFO: demo .*\n)+$/);
    });
  });

  it.skipIf(noTmux)('Ctrl-C on a terminal ends mining in good order', async () => {
    const terminal = new Terminal({ columns: 150, env: { ...windows.env } });
    try {
      const words = windows.command(windowsNode, demo()).map((word) => `'${word}'`);
      // A priority takes the native addon, which is not needed here.
      terminal.type(`env -u PICKAXE_CPU_PRIORITY ${words.join(' ')}; echo "ended with $?"\n`);
      await terminal.sees('accepted (', PATIENCE.timeout);
      terminal.press('C-c');
      await terminal.sees('ended with 0', PATIENCE.timeout);
      expect(terminal.text()).toContain('miner stopping; repeat to exit at once');
    } finally {
      await terminal.close();
    }
  });
});
