/** The names of what a rig can be doing. This file imports nothing; `rig-state.ts` says when a rig is in which state. */

export const RIG_STATES = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-source', 'no-device'] as const;
export type RigStateName = (typeof RIG_STATES)[number];
