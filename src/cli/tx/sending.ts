/** Sends something to a node, and says what to do if the answer is lost. */

import { ApiError } from '../../node/api/api-error.ts';
import type { Io } from './io.ts';

/**
 * @param hint what to do when the node may have taken it, although its answer did not come
 * @throws what `send` throws
 */
export async function sending<T>(send: () => Promise<T>, io: Pick<Io, 'say' | 'stop'>, hint: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    // A person may end the command while the request is under way.
    const mayBeTaken = io.stop.aborted || (error instanceof ApiError && error.mayHaveBeenTaken);
    if (mayBeTaken) io.say(`The node may have taken it all the same. ${hint}`);
    throw error;
  }
}
