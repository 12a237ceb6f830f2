/** How `pickaxe init` begins and ends: the files that it finds and writes. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { write } from '#pickaxe/cli/setup/init/init.js';
import { pickaxeIn } from '../../in-process.ts';
import { init, KEY, newFolder, settingsIn, startNode, untilKey } from './places.ts';

const answers = { node: { urls: ['http://a'], publicKey: KEY } };
const withPassword = {
  pool: { urls: ['stratum+tcp://a:1'], user: 'me.rig', password: { file: 'pool.password', text: 'geheim' } },
};

describe('pickaxe init', () => {
  it('says what to do instead where there is no terminal', async () => {
    const { code, stderr } = await pickaxeIn(newFolder().path, ['init']);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no terminal here to answer on');
    expect(stderr).toContain('pickaxe config example > pickaxe.toml');
  });

  it('overwrites a file only if told to', async () => {
    const folder = newFolder();
    const file = folder.write('pickaxe.toml', '# mine\n');
    const first = init(folder);
    await first.answers(`${file} exists. Overwrite it? (y/N)`);
    await first.sees('  Nothing was changed.\n');
    expect(await first.ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(file, 'utf8')).toBe('# mine\n');
    const second = init(folder);
    await second.answers(`${file} exists. Overwrite it?`, 'y');
    await untilKey(second, (await startNode()).url);
    await second.answers('Account');
    await second.sees(`  ${file} is written.\n  Every other setting, explained: pickaxe config example\n`);
    await second.sees('  To start mining: pickaxe mine\n');
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder).miner).toEqual({ 'public-keys': [KEY] });
    expect(readdirSync(folder.path)).toEqual(['pickaxe.toml']);
  });

  it('writes no file beside one of the same name that pickaxe does not read', async () => {
    const folder = newFolder();
    const json = folder.write('pickaxe.json', '{}');
    expect(await init(folder).ended).toMatchObject({
      code: 2,
      stderr: `error: ${json} exists, and pickaxe reads TOML only: move its settings to ${join(folder.path, 'pickaxe.toml')}, and remove it.\n`,
    });
  });

  it('writes nothing when it is interrupted', async () => {
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.sees('? Node URL');
    person.types('\u0003');
    await person.sees('  No configuration was written.\n');
    expect(await person.ended).toMatchObject({ code: 130, stderr: '' });
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('the files of pickaxe init', () => {
  const folderWith = () => {
    const folder = newFolder();
    return { folder, file: join(folder.path, 'made', 'config.toml') };
  };

  it.skipIf(process.platform === 'win32')(
    'can be written by their owner only, and read by others without the password',
    () => {
      const { file } = folderWith();
      for (const replaces of [false, true]) {
        write(file, answers, replaces);
        expect(statSync(file).mode & 0o777).toBe(0o644 & ~process.umask());
        expect(readdirSync(dirname(file))).toEqual(['config.toml']);
      }
      expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
      write(join(dirname(file), 'pool.toml'), withPassword, false);
      expect(statSync(join(dirname(file), 'pool.password')).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(dirname(file), 'pool.password'), 'utf8')).toBe('geheim\n');
    },
  );

  it.skipIf(process.platform === 'win32')('have new folders for the password that only its owner can use', () => {
    const { file } = folderWith();
    const password = { file: 'secret/deep/pool.password', text: 'geheim' };
    write(file, { pool: { ...withPassword.pool, password } }, false);
    expect(statSync(join(dirname(file), 'secret')).mode & 0o777).toBe(0o700);
  });

  it('are not there if the settings cannot be written', () => {
    const { folder } = folderWith();
    const file = folder.write('config.toml', '# mine\n');
    expect(() => write(file, withPassword, false)).toThrow(UsageError);
    expect(() => write(file, withPassword, false)).toThrow(`${file} could not be written: EEXIST`);
    expect(readdirSync(folder.path)).toEqual(['config.toml']);
    expect(readFileSync(file, 'utf8')).toBe('# mine\n');
    expect(() => write(file, answers, false)).toThrow('EEXIST');
  });

  it('replace nothing where the password’s file is taken', () => {
    const { folder } = folderWith();
    const password = folder.write('pool.password', 'mine');
    expect(() => write(join(folder.path, 'config.toml'), withPassword, false)).toThrow(
      `${password} could not be written: EEXIST`,
    );
    expect(readdirSync(folder.path)).toEqual(['pool.password']);
    expect(readFileSync(password, 'utf8')).toBe('mine');
  });

  it('leave nothing unfinished where a folder has the name of the settings', () => {
    const { folder } = folderWith();
    const file = join(folder.path, 'config.toml');
    mkdirSync(join(file, 'inside'), { recursive: true });
    expect(() => write(file, answers, true)).toThrow(`${file} could not be written`);
    expect(readdirSync(folder.path)).toEqual(['config.toml']);
    expect(existsSync(join(file, 'inside'))).toBe(true);
  });
});
