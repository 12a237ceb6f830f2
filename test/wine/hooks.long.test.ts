/**
 * Hooks on Windows. Wine's cmd.exe inserts values after it has parsed a line, so it shows less than Windows' own would:
 * what values may contain is in test/rig/notify/hooks.test.ts, too.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { windowsNode } from '../foreign/programs.mjs';
import { noWine, Windows, why, windowsPath } from './wine.ts';

const SCRIPT = windowsPath(fileURLToPath(new URL('./hooks.mjs', import.meta.url)));
const NODE = windowsPath(windowsNode);

/** What somebody would send who wants to run a command of his own. */
const HOSTILE = 'x" & echo pwned> C:\\pwned & rem %PATH% ^ | < > !PATH! \' ` $(calc) äöü ＂';
const notice = { type: 'block', timeMillis: 1, rig: 'Zürich 𝄞', text: 'a block', reason: HOSTILE };

describe.skipIf(noWine)(`on Windows${why}`, () => {
  let windows: Windows;
  let here: string;
  beforeAll(async () => {
    windows = Windows.open();
    here = join(windows.drive, 'Haken ä');
    mkdirSync(here);
  });
  afterAll(() => windows?.close());

  /** @returns what is logged about the hook */
  async function run(command: string | string[], timeoutMs = 60_000): Promise<string[]> {
    const args = [SCRIPT, windows.main, JSON.stringify({ command, notice, timeoutMs })];
    const { code, stdout, stderr } = await windows.node(args, { cwd: here });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(existsSync(join(windows.drive, 'pwned'))).toBe(false);
    return JSON.parse(stdout);
  }
  const read = (name: string) => readFileSync(join(here, name), 'utf8');

  it.each(['%PICKAXE_EVENT_REASON%', '"%PICKAXE_EVENT_REASON%"'])(
    'cmd.exe inserts only harmless characters: %s',
    async (value) => {
      expect(await run(`echo ${value}> reason.txt`)).toEqual(['debug block: its command has run']);
      const inert = 'x_ _ echo pwned_ C:_pwned _ rem _PATH_ _ _ _ _ _PATH_ _ _ __calc_ ___ _';
      expect(read('reason.txt').trim().replaceAll('"', '')).toBe(inert);
    },
  );

  it('a command gets the whole notice on its stdin, through cmd.exe, too', async () => {
    expect(await run('more > stdin.json')).toEqual(['debug block: its command has run']);
    expect(JSON.parse(read('stdin.json'))).toEqual(notice);
  });

  it('a list starts a program in a path with blanks, with its arguments as they are', async () => {
    const arguments_ = ['a b', '%PATH%', '"', '\\"', 'C:\\a\\', '', '&', 'ä𝄞'];
    const script = "fs.writeFileSync('list.json', JSON.stringify([process.argv.slice(1), fs.readFileSync(0, 'utf8')]))";
    expect(await run([NODE, '-e', script, '--', ...arguments_])).toEqual(['debug block: its command has run']);
    const [got, input] = JSON.parse(read('list.json'));
    expect(got).toEqual(arguments_);
    expect(JSON.parse(input)).toEqual(notice);
  });

  it('a batch file runs as a shell command, in quotes where its path has blanks', async () => {
    writeFileSync(join(here, 'mein hook.cmd'), '@echo off\r\nmore > "%~dp0batch.json"\r\nexit /b 3\r\n');
    expect(await run('"C:\\Haken ä\\mein hook.cmd"')).toEqual(['warn block: its command failed (exit code 3)']);
    expect(JSON.parse(read('batch.json'))).toEqual(notice);
  });

  it('a batch file in a list is refused, because cmd.exe would interpret its arguments', async () => {
    const config = `hooks.block = ['C:\\Haken ä\\mein hook.cmd', 'a']\r\n`;
    writeFileSync(join(here, 'batch.toml'), config);
    const { code, stderr } = await windows.pickaxe(['config', 'check', 'batch.toml'], { cwd: here });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('a .cmd or .bat file can only be in a shell command'),
    });
  });

  it('a command that does not exist is a failure like others', async () => {
    const [line] = await run(['C:\\fehlt.exe']);
    expect(line).toBe('warn block: its command failed (spawn C:\\fehlt.exe ENOENT)');
    expect((await run('fehlt'))[0]).toMatch(/^warn block: its command failed \(exit code \d+\)/);
  });

  it('a command that takes too long is killed', async () => {
    expect(await run([NODE, '-e', 'setInterval(() => {}, 1000)'], 500)).toEqual([
      'warn block: its command failed (killed: it took more than 0.5 s)',
    ]);
  });

  it('a run of pickaxe runs the commands of its flags', async () => {
    const commands = ['--on-start', 'more > "an fang.json"', '--on-stop', 'echo %PICKAXE_EVENT%> ende.txt'];
    const args = ['demo', '--devices', 'cpu', '--threads', '1', '--blocks', '1', '--duration', '60', ...commands];
    const { code, stderr } = await windows.pickaxe(args, { cwd: here });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('its command failed') });
    expect(JSON.parse(read('an fang.json'))).toMatchObject({ type: 'start' });
    expect(read('ende.txt').trim()).toBe('stop');
  });
});
