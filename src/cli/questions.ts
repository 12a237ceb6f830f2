import { UsageError } from '../app/exit.ts';

/**
 * Asks a person at a terminal for a yes.
 * @param stop ends the question, also one that is not on the screen yet
 * @returns undefined where nobody can be asked
 * @throws what `isEndOfQuestion` knows, when the person ends the question
 */
export async function confirm(question: string, stop?: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message: question, default: false }, { output: process.stderr, ...(stop && { signal: stop }) });
}

/** Whether a question was ended by Ctrl-C: what @inquirer/core throws then. */
export function isEndOfQuestion(fault: unknown): boolean {
  return fault instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(fault.name);
}

/* Reads standard input. */

/** Reads it to its end. @throws UsageError for more than `most` bytes. */
export async function readStdin(most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) throw new UsageError(`standard input has more than ${most} bytes.`);
  }
  return Buffer.concat(chunks);
}
