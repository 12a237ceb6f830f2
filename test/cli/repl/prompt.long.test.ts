/** The prompt on a real terminal. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { noTmux, Terminal, type TerminalOptions, why } from '../tmux.ts';

const ESCAPE = '\x1b';

let terminal: Terminal;
afterEach(() => terminal.close());

async function open(options: TerminalOptions = {}, words = ''): Promise<void> {
  terminal = new Terminal(options);
  const home = join(terminal.directory, 'state');
  terminal.type(`export XDG_STATE_HOME='${home}'; pickaxe repl ${words}; echo "code $?"\n`);
  await terminal.sees('contract> ');
}

describe.skipIf(noTmux)(`the prompt on a terminal${why}`, () => {
  it('runs code, completes names, drops inputs, and remembers what was typed', async () => {
    await open();
    await terminal.sees(/^pickaxe \S+: the contract language, dialect 5\. :help explains, Ctrl-D ends\.$/m);
    terminal.type('(+ 40\n');
    await terminal.sees(' ...> ');
    terminal.type('2)\n');
    await terminal.sees(/^42$/m);
    terminal.type('(+ 1');
    terminal.press('C-c');
    await terminal.sees('^C');
    terminal.type('(constan');
    terminal.press('Tab');
    await terminal.sees('(constantly');
    terminal.type(' 17 0)\n');
    await terminal.sees(/^17$/m);
    terminal.press('C-d');
    await terminal.sees('code 0');

    await terminal.wipe();
    terminal.type('pickaxe repl; echo "code $?"\n');
    await terminal.sees('contract> ');
    terminal.press('Up', 'Enter');
    await terminal.sees(/^17$/m);
    terminal.type(':quit\n');
    await terminal.sees('code 0');
  });

  it('ends at Ctrl-C while code runs, and leaves the terminal as it was', async () => {
    await open();
    const long = '(fold (lambda (a b) (fold (+) 0 (enumerate 0 100000))) 0 (enumerate 0 100000))';
    terminal.type(`(print "it runs") ${long}\n`);
    await terminal.sees(/^"?it runs/m);
    terminal.press('C-c');
    terminal.type('echo "ended $?"; stty -a\n');
    await terminal.sees('ended 130');
    await terminal.sees(/^isig icanon iexten echo /m);
  });

  it('runs files', async () => {
    await open();
    writeFileSync(join(terminal.directory, 'a.repl'), '(expect "sums" 4 (+ 1 2))\n');
    terminal.type(':load a.repl\n');
    await terminal.sees('a.repl:1:0:ExecError: FAILURE: sums expected: 4, received: 3');
    await terminal.sees('1 file, 1 expectation: 0 passed, 1 failed');
  });

  it('has colours, but none with NO_COLOR', async () => {
    await open();
    terminal.type('(enforce false "no")\n');
    await terminal.sees('Error: no');
    expect(terminal.text({ escapes: true })).toContain(`${ESCAPE}[31m`);
    await terminal.close();
    await open({ env: { NO_COLOR: '1' } });
    terminal.type('(enforce false "no")\n');
    await terminal.sees('Error: no');
    expect(terminal.text({ escapes: true })).not.toContain(ESCAPE);
  });

  it('speaks the other dialect', async () => {
    await open({}, '--dialect 4');
    await terminal.sees('dialect 4');
    terminal.type('(expect "sums" 3 (+ 1 2))\n');
    await terminal.sees('Expect: success: sums');
  });
});
