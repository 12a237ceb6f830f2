/** Runs the prompt of `pickaxe repl` at a terminal: adds editing, history, completion and Ctrl-C to a Conversation. */

import { createInterface, type Interface } from 'node:readline';
import { EXIT } from '../../app/process/exit.ts';
import { userStateDirectory } from '../../base/system/files.ts';
import { version } from '../../base/system/version.ts';
import { inColours, inPlain, type Paint, terminalKind } from '../../rig/terminal/screen.ts';
import { Conversation } from './conversation.ts';
import { History, MAX_LINES } from './input-history.ts';
import { type MakeSession, type RunOptions, sessionOptions } from './runs/run-file.ts';
import type { SourceFiles } from './source-files.ts';

const PROMPT = 'contract> ';
/** The prompt for further lines of an input. It is as wide as PROMPT, so that the lines are aligned. */
const GOES_ON = '     ...> ';

/** Runs the prompt at this process's terminal. */
export async function runPrompt(options: RunOptions, files: SourceFiles, makeSession: MakeSession): Promise<number> {
  const { stdin: input, stdout: output } = process;
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const { escapes, colours } = terminalKind(output.isTTY);
  const paint = colours ? inColours : inPlain;
  files.nameWorkingFolder();
  const session = makeSession(sessionOptions(options, files, (line) => output.write(`${line}\n`)));
  await talk({
    conversation: new Conversation(session, (path) => files.name(path), {
      read: files.read,
      paint,
      columns: output.columns,
    }),
    history: new History(userStateDirectory(), say),
    input,
    output,
    isTerminal: escapes,
    paint,
    greeting: `pickaxe ${version}: the contract language, dialect ${options.dialect}. :help explains, Ctrl-D ends.`,
  });
  return EXIT.done;
}

interface PromptOptions {
  readonly conversation: Conversation;
  readonly history: Pick<History, 'newestFirst' | 'add' | 'close'>;
  readonly input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
  /** Whether the output supports escape codes. If not, lines are edited by the terminal, not by readline. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** The first line that is printed. */
  readonly greeting: string;
}

/** Prints the greeting, and runs the prompt until the input ends, for example by Ctrl-D, or until `:quit`. */
export async function talk(options: PromptOptions): Promise<void> {
  const { conversation, history, input, output, isTerminal, greeting } = options;
  output.write(`${greeting}\n`);
  const line = createInterface({
    input,
    output,
    terminal: isTerminal,
    history: [...history.newestFirst],
    historySize: MAX_LINES,
    removeHistoryDuplicates: true,
    completer: (typed: string) => conversation.complete(typed),
  });
  try {
    await untilClosed(line, options);
  } finally {
    line.close();
    await history.close();
  }
}

function untilClosed(
  line: Interface,
  { conversation, history, input, output, isTerminal, paint }: PromptOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const ask = () => {
      line.setPrompt(paint('bold', conversation.goesOn ? GOES_ON : PROMPT));
      line.prompt();
    };
    // While code runs, nothing reads the keyboard. Raw mode is off during that time, so that the terminal turns Ctrl-C
    // into a signal, which ends the process.
    const readKeys = (reads: boolean) => isTerminal && input.setRawMode?.(reads);
    line.on('line', (typed) => {
      readKeys(false);
      try {
        history.add(typed);
        for (const each of conversation.take(typed)) output.write(`${each}\n`);
      } catch (fault) {
        reject(fault);
        return;
      } finally {
        readKeys(true);
      }
      if (conversation.hasEnded) resolve();
      else ask();
    });
    line.on('SIGINT', () => {
      // Readline can erase the typed line only by its keys: Ctrl-E goes to the end, and Ctrl-U erases all before it.
      line.write(null, { ctrl: true, name: 'e' });
      line.write(null, { ctrl: true, name: 'u' });
      conversation.drop();
      output.write('^C\n');
      ask();
    });
    line.on('close', () => {
      // After Ctrl-D, the cursor is still in the line of the prompt.
      if (!conversation.hasEnded) output.write('\n');
      resolve();
    });
    ask();
  });
}
