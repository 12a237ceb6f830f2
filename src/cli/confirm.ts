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
