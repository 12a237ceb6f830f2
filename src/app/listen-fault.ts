/** Why a server cannot listen, and what to do about it. */

/**
 * @param fault what Node.js says
 * @param port the port that was asked for
 * @returns a clause and a sentence without a full stop at its end
 */
export function whyNotListening({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port`;
  }
  if (code === 'EACCES') return `this user may not use port ${port}. Give a port above 1023`;
  if (code === 'EADDRNOTAVAIL')
    return 'this machine has no such address. Give one of its own, or 0.0.0.0 for all of them';
  return message;
}
