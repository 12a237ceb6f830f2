/** Asks a person at a terminal for a yes. @returns undefined where nobody can be asked */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message: question, default: false }, { output: process.stderr });
}
