import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { isolated, MAIN, start } from '../pickaxe.ts';
import { noTmux, Terminal, type TerminalOptions, why } from '../tmux.ts';
import { TOKEN, tokenFile } from '../token-file.ts';

const KEY = 'a1'.repeat(32);
/** A status line begins with a hashrate, or with what the rig does instead of mining. No line of the log does. */
const STATUS = /^ (?:\d[\d.]* [kMG]?H\/s(?: \(10 s\))?|(?:starting|paused).*?) {2}/;
const ESCAPE = '\x1b';
/** Erases the status line, before it is drawn again and in the end. */
const ERASE = `\r${ESCAPE}[J`;

const nodes: MockNode[] = [];
const terminals: Terminal[] = [];

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

/** @returns the arguments to mine on a node whose target is so hard that no block is found */
async function mine(...more: string[]): Promise<string> {
  const node = new MockNode({ dialect: 'chainweb', difficulty: 1e15 });
  nodes.push(node);
  const { url } = await node.start();
  const network = ['--network', 'development', '--public-key', KEY, '--devices', 'cpu', '--threads', '1'];
  return ['mine', '--node', url, ...network, ...more].join(' ');
}

function open(options?: TerminalOptions): Terminal {
  const terminal = new Terminal(options);
  terminals.push(terminal);
  return terminal;
}

/** Runs a command on a terminal that records every byte. */
async function inScript(command: string, typed: string, options: SpawnOptions) {
  const child = spawn('script', ['-qec', command, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout!.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stdin!.write(typed);
  const [code] = await once(child, 'close');
  return { stdout, code };
}

const statusLines = (terminal: Terminal) => terminal.rows().filter((row) => STATUS.test(row));

async function opened(options?: TerminalOptions): Promise<Terminal> {
  const terminal = open(options);
  terminal.type(`pickaxe ${await mine()}; echo "code $?"; stty -a\n`);
  await terminal.sees('1 thread ('); // the CPU is ready
  await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
  return terminal;
}

/** Mines with a status line. @returns the process */
async function processOn(terminal: Terminal): Promise<number> {
  const command = `exec "${process.execPath}" "${MAIN}" ${await mine()}`;
  terminal.type(`(echo "pid $BASHPID."; ${command}); echo "code $?"; NODE_OPTIONS= stty -a\n`);
  await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
  return Number(/pid (\d+)\./.exec(terminal.text())![1]);
}

/** The shell's own modes: lines, echo and signals. */
async function isRestored(terminal: Terminal): Promise<void> {
  await terminal.sees(/^isig icanon iexten echo /m);
  expect(terminal.text()).not.toMatch(/ -isig| -icanon| -echo /);
  expect(statusLines(terminal)).toEqual([]);
}

describe.skipIf(noTmux)(`on a terminal${why}`, () => {
  it('the log has a status line below it, and keys show more', async () => {
    const terminal = await opened();
    await terminal.sees('new job'); // what is known of the node is shown below
    // The line is drawn once a second.
    await vi.waitFor(() => expect(terminal.rows().at(-1)).toMatch(STATUS), PATIENCE);
    terminal.type('z');
    terminal.press('Up', 'F5');
    const pages = { h: 'highest', s: 'effort', c: 'never lost', e: '0 hardware errors', '?': 'q  quit' };
    for (const [key, message] of Object.entries(pages)) {
      terminal.type(key);
      await terminal.sees(message);
    }
    await terminal.sees(/proven .*H\/s \(95 %|nothing yet/);
    expect(terminal.text().match(/highest/g)).toHaveLength(2); // on the page h, and on the page ?
    expect(terminal.rows().at(-1)).toMatch(STATUS);
    expect(statusLines(terminal)).toHaveLength(1);
    terminal.type('q');
    await terminal.sees('code 0');
    await isRestored(terminal);
    expect(terminal.text()).toMatch(/0 accepted, 0 rejected, 0 stale/);
  });

  it('the key p pauses and the key r resumes', async () => {
    const terminal = await opened();
    terminal.type('p');
    await terminal.sees('paused: by the key p');
    await vi.waitFor(() => expect(statusLines(terminal)[0]).toMatch(/^ paused /), PATIENCE);
    terminal.type('r');
    await vi.waitFor(() => expect(statusLines(terminal)[0]).not.toContain('paused'), PATIENCE);
    terminal.press('C-c');
    await terminal.sees('code 0');
    await isRestored(terminal);
  });

  it('the key l shows the link to the page with its token for a while, and leaves it nowhere', async () => {
    const terminal = open({ columns: 80, rows: 24 });
    const http = ['--http', '0.0.0.0:0', '--http-token-file', tokenFile(TOKEN), '--log-file', 'pickaxe.log'];
    terminal.type(`pickaxe ${await mine(...http)}; echo "code $?"; cat pickaxe.log; stty -a\n`);
    await terminal.sees('token required');
    await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
    terminal.type('l');
    await terminal.sees(`#token=${TOKEN}`);
    await terminal.sees('Press any key to go back.');
    expect(statusLines(terminal)).toEqual([]);
    // Another key only goes back: it does not pause.
    terminal.type('p');
    await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
    expect(terminal.text()).not.toContain(TOKEN);
    expect(terminal.text()).not.toContain('pausing');
    terminal.type('l');
    await terminal.sees(`#token=${TOKEN}`);
    terminal.press('C-c');
    await terminal.sees('code 0');
    await isRestored(terminal);
    expect(terminal.text()).toContain('token required');
    expect(terminal.text()).not.toContain(TOKEN);
  });

  it('the status line fits, whatever the width of the terminal becomes', async () => {
    const terminal = await opened({ columns: 160 });
    for (const columns of [90, 60, 40, 25, 60, 160]) {
      terminal.resize(columns);
      await vi.waitFor(() => {
        const [row, ...more] = statusLines(terminal);
        expect(more).toEqual([]);
        expect(row.length).toBeLessThan(columns);
        expect(row.includes('0/0/0') || row.includes('accepted')).toBe(true);
        // A new rig's status line names the key, unless there is hardly any room.
        if (columns >= 60) expect(row).toContain('? for keys');
        expect(terminal.rows().at(-1)).toBe(row);
      }, PATIENCE);
    }
  });

  it('NO_COLOR removes the colours and keeps the status line', async () => {
    const colourful = await opened();
    expect(colourful.text({ escapes: true })).toContain(`${ESCAPE}[`);
    const plain = await opened({ env: { NO_COLOR: '1' } });
    expect(plain.text({ escapes: true })).not.toContain(ESCAPE);
  });

  it('SIGTERM restores the terminal', async () => {
    const terminal = open();
    process.kill(await processOn(terminal), 'SIGTERM');
    await terminal.sees('code 0');
    await isRestored(terminal);
  });

  it('the end of the terminal ends mining in good order', async () => {
    const terminal = new Terminal();
    const log = join(mkdtempSync(join(tmpdir(), 'pickaxe-')), 'log');
    onTestFinished(() => rmSync(dirname(log), { recursive: true, force: true }));
    terminal.type(`pickaxe ${await mine('--log-file', log)}\n`);
    await terminal.sees('1 thread (');
    await terminal.close();
    const lines = () => readFileSync(log, 'utf8').trimEnd().split('\n');
    await vi.waitFor(() => expect(lines().at(-1)).toMatch(/miner 0 accepted, .* on average$/), PATIENCE);
    expect(lines().join()).toContain('stopping; repeat to exit at once');
  });

  it('a crash restores the terminal', async () => {
    const bomb = 'process.on("SIGUSR2", () => { throw new Error("a bomb"); })';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(bomb)}`;
    const terminal = open({ env: { NODE_OPTIONS } });
    const written = terminal.record();
    process.kill(await processOn(terminal), 'SIGUSR2');
    await terminal.sees('Error: a bomb');
    await terminal.sees(/code [1-9]/);
    await isRestored(terminal);
    // Node.js itself restores the terminal's mode. pickaxe has to erase the line before the error is printed.
    await vi.waitFor(() => expect(written()).toContain('Error: a bomb'), PATIENCE);
    const [before] = written().split('Error: a bomb');
    expect(before).toContain('accepted 0 rejected');
    expect(before.slice(before.lastIndexOf(ERASE))).not.toContain('accepted 0 rejected');
  });

  it('Ctrl-Z stops pickaxe, which then goes on in the background without the terminal, and in the foreground with it', async () => {
    const terminal = open();
    terminal.type(`pickaxe ${await mine('--duration', '60')}\n`);
    await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
    terminal.press('C-z');
    await terminal.sees('Stopped');
    expect(statusLines(terminal)).toEqual([]);
    terminal.type('bg\njobs; echo here; stty -a\n');
    await terminal.sees(/^isig icanon iexten echo /m);
    await terminal.sees(/Running .*\n?.*\nhere/);
    expect(statusLines(terminal)).toEqual([]);
    terminal.type('fg\n');
    await vi.waitFor(() => expect(statusLines(terminal)).toHaveLength(1), PATIENCE);
    terminal.type('s');
    await terminal.sees('no block yet');
    terminal.type('q');
    await terminal.sees('0 accepted');
  });

  it('pickaxe that is started in the background does not touch the terminal and is not stopped', async () => {
    const terminal = open();
    terminal.type(`pickaxe ${await mine('--duration', '4')} & wait $!; echo "code $?"\n`);
    await terminal.sees('code 0');
    expect(terminal.text()).not.toContain('Stopped');
    expect(statusLines(terminal)).toEqual([]);
  });

  it('--no-status turns the status line off, and keys still work', async () => {
    const terminal = open();
    terminal.type(`pickaxe ${await mine('--no-status')}; echo "code $?"\n`);
    await terminal.sees('new job');
    terminal.type('h');
    await terminal.sees('highest');
    expect(statusLines(terminal)).toEqual([]);
    terminal.type('q');
    await terminal.sees('code 0');
  });
});

// Other programs named `script` have other options.
const noScript = !spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');
if (noScript && process.env.CI) throw new Error('CI must try terminals that no person uses: install util-linux');
const whyNoScript = noScript ? ' (skipped: no script of util-linux)' : '';

describe.skipIf(noScript)(`on a terminal that no person uses${whyNoScript}`, () => {
  it.each([
    ['TERM=dumb', { TERM: 'dumb' }, []],
    ['CI=true', { CI: 'true' }, []],
    ['--log-format json', {}, ['--log-format', 'json']],
  ])('there is no escape code, and keys do nothing, with %s', async (_, env, more) => {
    const command = [process.execPath, MAIN, await mine('--duration', '3', ...more)].join(' ');
    const { CI: _1, NO_COLOR: _2, ...rest } = isolated.env;
    const { stdout, code } = await inScript(command, 'hq', { ...isolated, env: { ...rest, TERM: 'xterm', ...env } });
    expect(code).toBe(0);
    expect(stdout).toContain('new job');
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).not.toContain('highest');
    expect(stdout).not.toContain('stopping');
  });
});

describe('where there is no terminal', () => {
  it('there is no escape code, and the speed is still logged', async () => {
    const run = start((await mine('--log-format', 'text')).split(' '), { CI: '', TERM: 'xterm' });
    await vi.waitFor(() => expect(run.stderr).toContain('speed '), PATIENCE);
    run.child.kill('SIGINT');
    expect(await run.code).toBe(0);
    expect(run.stderr).not.toContain(ESCAPE);
  });
});
