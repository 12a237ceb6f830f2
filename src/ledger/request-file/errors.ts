/**
 * A request file, a key file or an unsigned form that cannot be used. The message names the file and, where there is
 * one, the line.
 */
export class RequestFileError extends Error {
  override readonly name = 'RequestFileError';
}
