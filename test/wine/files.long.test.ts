/** Paths with blanks and umlauts, configuration, keys, secrets and log files on Windows. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noWine, Windows, why, windowsPath } from './wine.ts';

const FOLDER = 'Meine Bergwerke äöüß 𝄞';
const KEY = 'a1'.repeat(32);
const PROJECT = `[node]\r\nurls = ["http://127.0.0.1:9"]\r\nnetwork = "development"\r\n\r\n[miner]\r\npublic-keys = ["${KEY}"]\r\n`;

describe.skipIf(noWine)(`on Windows${why}`, () => {
  let windows: Windows;
  /** A folder as this system and as Windows knows it. */
  let here: string;
  const there = `C:\\${FOLDER}`;
  beforeAll(async () => {
    windows = Windows.open();
    here = join(windows.drive, FOLDER);
    mkdirSync(here);
  });
  afterAll(() => windows?.close());
  const pickaxe = (...args: string[]) => windows.pickaxe(args, { cwd: here });
  const write = (name: string, text: string, encoding: BufferEncoding = 'utf8') =>
    writeFileSync(join(here, name), text, encoding);
  /** A file in the user's own folders. */
  const userFolder = async (variable: string) => {
    const { stdout } = await windows.run('cmd', ['/c', `echo %${variable}%`]);
    return join(windows.drive, ...stdout.trim().slice('C:\\'.length).split('\\'));
  };

  it('reads a project file in such a folder, with the line ends of Windows', async () => {
    write('pickaxe.toml', `${PROJECT}[rig]\r\nname = "Zürich 𝄞"\r\n`);
    const { code, stdout } = await pickaxe('mine', '--print-config', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      'rig.name': { value: 'Zürich 𝄞', origin: 'project', where: 'pickaxe.toml:8' },
      'miner.public-keys': { value: [KEY] },
    });
  });

  it('reads a file that PowerShell 5 has written, by its full path', async () => {
    write('größe.toml', `\ufeff${PROJECT}`, 'utf16le');
    expect(await pickaxe('config', 'check', `${there}\\größe.toml`)).toMatchObject({ code: 0, stderr: '' });
    write('falsch.toml', `${PROJECT}[cpu]\r\nthread = 2\r\n`);
    const wrong = await pickaxe('config', 'check', `${there}\\falsch.toml`);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${there}\\falsch.toml:8:1: there is no setting`),
    });
  });

  it('finds the user’s file in %APPDATA%', async () => {
    const folder = join(await userFolder('APPDATA'), 'pickaxe');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.toml'), '[cpu]\r\nthreads = 2\r\n');
    const { stdout } = await pickaxe('mine', '--print-config');
    expect(stdout).toMatch(/^threads = 2 +# C:\\users\\.+\\AppData\\Roaming\\pickaxe\\config\.toml:2$/m);
  });

  it('makes a key file once', async () => {
    const made = await pickaxe('keygen', 'Schlüssel 1.json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { publicKey } = JSON.parse(readFileSync(join(here, 'Schlüssel 1.json'), 'utf8'));
    expect(made.stdout).toContain(publicKey);
    const again = await pickaxe('keygen', 'Schlüssel 1.json');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
  });

  it('refuses what is not there, in words', async () => {
    const { code, stderr } = await pickaxe('mine', '--config', 'fehlt.toml');
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: fehlt.toml: there is no such file.\n' });
    const folder = await pickaxe('mine', '--config', `${there}\\..\\${FOLDER}`);
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining('its name ends in .toml') });
  });

  it('takes a secret from a file that PowerShell has written, and says how to make one', async () => {
    const file = `${there}\\token äß.txt`;
    const demo = () =>
      pickaxe(
        'demo',
        '--devices',
        'cpu',
        '--blocks',
        '1',
        '--duration',
        '60',
        '--http',
        '127.0.0.1:0',
        '--http-token-file',
        file,
      );
    write('token äß.txt', '\ufeffshort\r\n', 'utf16le');
    const refused = await demo();
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`> "${file}"\n`) });
    const [, script] = /Make one with: node -p "(.*)" >/.exec(refused.stderr)!;
    const made = await windows.node(['-p', script]);
    write('token äß.txt', `\ufeff${made.stdout.replace('\n', '\r\n')}`, 'utf16le');
    expect(await demo()).toMatchObject({ code: 0, stderr: expect.stringContaining('listening at http://127.0.0.1:') });
  });

  it('writes a log file and rotates it', async () => {
    const args = ['--log-file', `${there}\\mühle.log`, '--log-file-size', '1k', '--log-file-keep', '2'];
    const { code, stderr } = await pickaxe('demo', '--devices', 'cpu', '--blocks', '8', '--duration', '60', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('cannot be') });
    const logs = readdirSync(here).filter((name) => name.startsWith('mühle'));
    expect(logs.sort()).toEqual(['mühle.log', 'mühle.log.1', 'mühle.log.2']);
    const kept = logs
      .reverse()
      .map((name) => readFileSync(join(here, name), 'utf8'))
      .join('');
    expect(stderr.endsWith(kept.slice(kept.indexOf('\n') + 1))).toBe(true);
  });

  it('replaces a file that another program has open for a moment', async () => {
    const script = fileURLToPath(new URL('./replace-held-file.mjs', import.meta.url));
    const { code, stdout, stderr } = await windows.node([windowsPath(script), windows.main], { cwd: here });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'EPERM, then replaced\n', stderr: '' });
    expect(readFileSync(join(here, 'held.txt'), 'utf8')).toBe('new');
  });
});
