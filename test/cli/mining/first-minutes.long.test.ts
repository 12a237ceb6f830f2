/**
 * A newcomer's first minutes: `RECORD=1 npx vitest run test/cli/mining/first-minutes.long.test.ts` writes what
 * docs/commands.md shows of them again. The test compares with it what is the same on every machine and in every run.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { cacheHome } from '../pickaxe.ts';
import { noTmux, Terminal, why } from '../tmux.ts';

const PAGE = fileURLToPath(new URL('../../../docs/commands.md', import.meta.url));
const RECORDS = process.env.RECORD !== undefined;

type Section = 'pickaxe' | 'init' | 'file' | 'doctor' | 'mine' | 'quit';
/** What the document shows, in this order. */
const SHOWN = ['init'] as const;

async function play(terminal: Terminal, node: MockNode, url: string): Promise<Record<Section, string>> {
  const seen: Partial<Record<Section, string>> = {};
  const PROMPT = /\n\$ \n*$/;
  /** A shell that starts slowly shows its prompt before the command's output. */
  const run = async (section: Section, command: string, shows: string) => {
    await terminal.wipe();
    terminal.type(`${command}\n`);
    await terminal.sees(shows);
    await terminal.sees(PROMPT);
    seen[section] = terminal.text();
  };
  await run('pickaxe', 'pickaxe', 'all commands');

  await terminal.wipe();
  terminal.type('pickaxe init\n');
  for (const [question, typed] of [
    [/\? Mine on[^\n]*\n(?:.|\n)*a pool/, '\n'],
    [/\? Node URL [^\n]*\n*$/, `${url}\n`],
    [/\? Another node[^\n]*\n*$/, '\n'],
    [/\? Network [^\n]*\n*$/, '\n'],
  ] as const) {
    await terminal.sees(question);
    terminal.type(typed);
  }
  await terminal.sees('paste its public half');
  terminal.press('Down', 'Enter');
  for (const question of [/\? File for the secret half [^\n]*\n*$/, /\? Account [^\n]*\n*$/]) {
    await terminal.sees(question);
    terminal.press('Enter');
  }
  await terminal.sees(PROMPT);
  seen.init = terminal.text();

  await run('file', 'cat pickaxe.toml', 'public-keys');
  await run('doctor', 'pickaxe doctor', ' warnings');

  await terminal.wipe();
  terminal.type('pickaxe mine\n');
  await vi.waitFor(() => expect(node.ledger.stats.accepted).toBeGreaterThan(0), PATIENCE);
  for (const [key, message] of [
    ['h', 'verified candidates prove it'],
    ['s', 'became'],
    ['c', 'New Cuts'],
    ['e', 'hardware error'],
    ['p', 'paused: by the key p'],
    ['r', 'resuming'],
  ] as const) {
    await pressUntilSeen(terminal, key, message);
  }
  await terminal.sees(/\n \d[\d.]* [kMG]?H\/s(?: \(10 s\))? {2}[^\n]*\n*$/);
  seen.mine = terminal.text();
  terminal.type('q');
  await terminal.sees(PROMPT);
  seen.quit = terminal.text().slice(terminal.text().indexOf('resuming'));
  return seen as Record<Section, string>;
}

/** Presses a key again while the miner cannot show the text yet, such as the fate of its blocks. */
function pressUntilSeen(terminal: Terminal, key: string, message: string): Promise<void> {
  return vi.waitFor(async () => {
    terminal.type(key);
    await terminal.sees(message, 2_000);
  }, PATIENCE);
}

/** Removes what differs between machines or runs. */
function tidy(text: string, directory: string): string {
  return text
    .replaceAll(directory, '/home/you/rig')
    .replaceAll(cacheHome, '/home/you/.cache')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1848')
    .replaceAll(/^( *no GPU): .*$/gm, '$1: …')
    .replaceAll(/[ \t]+$/gm, '')
    .replace(/\n\$ *\n*$/, '\n')
    .trim();
}

/** The first block of code that begins with the call of a command, without its fences. */
const blockOf = (section: string) =>
  new RegExp(`(?<=^\`\`\`\\n)\\$ pickaxe ${section}\\n[\\s\\S]*?(?=\\n\`\`\`$)`, 'm');

function sectionsOf(text: string): Record<(typeof SHOWN)[number], string> {
  const blocks = SHOWN.map((section) => [section, blockOf(section).exec(text)![0]]);
  return Object.fromEntries(blocks) as Record<(typeof SHOWN)[number], string>;
}

/** The lines that are the same everywhere, without keys, figures and log. */
function stable(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^(\[|…)/.test(line))
    .map((line) =>
      line
        .replaceAll(/[0-9a-f]{64}/g, 'KEY')
        .replaceAll(/\d[\d.]*/g, 'N')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
}

describe.skipIf(noTmux)(`the first minutes${why}`, () => {
  const node = new MockNode({ dialect: 'chainweb', difficulty: 5e6, rivalMs: 4_000 });
  let seen: Record<Section, string>;
  let shown: ReturnType<typeof sectionsOf>;

  beforeAll(async () => {
    const { url } = await node.start();
    if (RECORDS) node.ledger.difficulty = 2e9;
    // The record is of a measurement, while other tests begin with made-up speeds of the kernels.
    if (RECORDS) rmSync(join(cacheHome, 'pickaxe'), { recursive: true });
    const env = {
      NO_COLOR: '1',
      VK_DRIVER_FILES: '/none',
      VK_ICD_FILENAMES: '/none',
      // The record shows what a user sees, with the usual priority.
      ...(RECORDS && { PICKAXE_CPU_PRIORITY: '19' }),
    };
    const terminal = new Terminal({ columns: 110, rows: 45, env });
    try {
      const raw = await play(terminal, node, url);
      const tidied = Object.entries(raw).map(([name, text]) => [name, tidy(text, terminal.directory)]);
      seen = Object.fromEntries(tidied) as Record<Section, string>;
    } finally {
      await terminal.close();
    }
    const page = readFileSync(PAGE, 'utf8');
    if (RECORDS) {
      writeFileSync(
        PAGE,
        SHOWN.reduce((text, section) => text.replace(blockOf(section), () => seen[section]), page),
      );
    }
    shown = sectionsOf(readFileSync(PAGE, 'utf8'));
  }, 200_000);

  afterAll(() => node.close());

  it('of pickaxe alone name what to do next', () => {
    const next = [...seen.pickaxe.matchAll(/^ {2}pickaxe (\S+) {2}/gm)].map(([, word]) => word);
    expect(next).toEqual(['demo', 'init', 'doctor', '--help']);
  });

  it('of init are as the page shows them', () => {
    // Machines mine with different devices, and a shell that starts slowly shows its empty prompt once more.
    const lines = (text: string) => stable(text).filter((line) => !/^(the CPU mines|no GPU|resuming|\$$)/.test(line));
    expect(lines(seen.init)).toEqual(lines(shown.init));
  });

  it('leave a file with the answers, and nothing else', () => {
    const settings = stable(seen.file).filter((line) => !/^(#|\$|$)/.test(line));
    expect(settings).toEqual(['urls = [ "http://N:N" ]', 'network = "development"', 'public-keys = [ "KEY" ]']);
  });

  it('of doctor are findings about the machine, the configuration, the node and the account', () => {
    const findings = stable(seen.doctor).filter((line) => /^(ok|warning|fault) /.test(line));
    const about = findings.map((line) => line.split(' ')[1]);
    for (const each of ['Node.js', 'CPU', 'configuration', 'node', 'account', 'earnings'])
      expect(about).toContain(each);
    expect(findings.filter((line) => line.split(' ')[1] === 'node' && !line.startsWith('ok '))).toEqual([]);
  });

  it('of mine have a page for each key', () => {
    const words = new Set(stable(seen.mine).map((line) => line.split(' ')[0]));
    expect([...words]).toEqual(expect.arrayContaining(['over', 'became', 'luck', 'New', 'pausing', 'resuming']));
  });

  it('end with a summary', () => {
    expect(seen.quit).toMatch(/\d+ accepted, \d+ rejected, \d+ stale/);
  });
});
