/** What may be written to the terminal behind stderr, where there is one. */

interface TerminalKind {
  /** It understands escape codes, which move the cursor and erase. Without this, none is ever written. */
  readonly escapes: boolean;
  readonly colours: boolean;
}

/** @param isTty whether stderr is a terminal */
export function terminalKind(
  isTty = process.stderr.isTTY === true,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TerminalKind {
  const { TERM, CI, NO_COLOR } = environment;
  // CI runners give a terminal whose output is read as a file.
  const isRunner = CI !== undefined && !['', '0', 'false'].includes(CI);
  const escapes = isTty && TERM !== 'dumb' && !isRunner;
  // https://no-color.org: any value that is not empty.
  return { escapes, colours: escapes && !NO_COLOR };
}
