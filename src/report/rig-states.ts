/** The names of what a rig can be doing. A leaf: `rig-state.ts` says when it is doing what. */

export const RIG_STATES = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-node', 'no-device'] as const;
export type RigStateName = (typeof RIG_STATES)[number];
