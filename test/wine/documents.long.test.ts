/**
 * The commands of docs/platforms.md, as far as Wine has the programs that they name: PowerShell and Windows' own are
 * not there.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { start } from '../cli/pickaxe.ts';
import { ROOT } from '../scripts/run.ts';
import { noWine, Windows, why } from './wine.ts';

const document = readFileSync(join(ROOT, 'docs/platforms.md'), 'utf8');
const blocks = (language: string) =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, text]) => text);
const commands = blocks('powershell').flatMap((block) => block.trim().split('\n'));
const ours = commands.filter((line) => line.startsWith('pickaxe '));

/** What must be added so that the command ends, and the exit code without a node and a terminal. */
const EXPECTED: Record<string, { more?: string[]; code: number }> = {
  'pickaxe --version': { code: 0 },
  'pickaxe demo': { more: ['--devices', 'cpu', '--blocks', '1', '--duration', '60'], code: 0 },
  'pickaxe init': { code: 2 },
  'pickaxe doctor': { code: 1 },
  'pickaxe mine': { code: 2 },
  'pickaxe keygen my-key.json': { code: 0 },
  'pickaxe config example > pickaxe.toml': { code: 0 },
  'pickaxe config check pickaxe.toml': { code: 0 },
};

test('the document’s commands are those that are tried here, and programs of Windows', () => {
  expect(ours).toEqual(Object.keys(EXPECTED));
  const programs = /^(\$\w+ = |npm install --global \.\\|winget |notepad |powercfg |[A-Z][a-z]+-[A-Z]\w+ )/;
  expect(commands.filter((line) => !ours.includes(line) && !programs.test(line))).toEqual([]);
});

test('the request that stops a miner stops it', async () => {
  const line = commands.find((each) => each.startsWith('Invoke-RestMethod'))!;
  const [, method, type, body, path] =
    /-Method (\w+) -ContentType (\S+) -Body '(.*)' http:\/\/127\.0\.0\.1:8080(\S+)$/.exec(line)!;
  const args = ['demo', '--devices', 'cpu', '--threads', '1', '--duration', '90', '--http', '0', '--http-control'];
  const run = start(args);
  const url = () => /listening at (http:\S+?),/.exec(run.stderr)?.[1];
  await vi.waitFor(() => expect(url()).toBeDefined(), { timeout: 60_000 });
  const answer = await fetch(`${url()}${path}`.replace(/([^:])\/\//, '$1/'), {
    method,
    headers: { 'content-type': type },
    body,
  });
  expect(answer.status).toBe(204);
  expect(await run.code).toBe(0);
  expect(run.stderr).toContain('on average');
});

describe.skipIf(noWine)(`on Windows${why}`, () => {
  let windows: Windows;
  let here: string;
  beforeAll(async () => {
    windows = Windows.open();
    here = join(windows.drive, 'rig');
    mkdirSync(here);
  });
  afterAll(() => windows?.close());

  it.each(Object.entries(EXPECTED))('%s', async (line, { more = [], code }) => {
    const [command, file] = line.split(' > ');
    const ran = await windows.pickaxe([...command.split(' ').slice(1), ...more], { cwd: here });
    expect(ran.code, ran.stderr).toBe(code);
    // As Windows PowerShell 5 writes it.
    if (file) writeFileSync(join(here, file), `\ufeff${ran.stdout.replaceAll('\n', '\r\n')}`, 'utf16le');
  });

  it('accepts the configuration of the document', async () => {
    const settings = blocks('toml');
    expect(settings).toHaveLength(1);
    writeFileSync(join(here, 'hooks.toml'), settings[0]);
    expect(await windows.pickaxe(['config', 'check', 'hooks.toml'], { cwd: here })).toMatchObject({ code: 0 });
  });
});
