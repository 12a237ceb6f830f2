/** A text is not a state that a mock node can save or go on from. The message says why, as a clause. */
export class StateError extends Error {
  override readonly name = 'StateError';
}
