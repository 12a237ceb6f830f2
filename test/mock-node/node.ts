/**
 * The mock node as tests start it: with the paths and headers of either document 1 or live nodes. A user's mock node
 * serves both by default, which no other node does.
 */

import { type MockNodeContext, MockNode as UnnamedNode } from '#pickaxe/mock-node/mock-node.js';
import type { MockNodeOptions as Options } from '#pickaxe/mock-node/options.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';

export const DIALECTS = ['document', 'chainweb'] as const satisfies readonly Dialect[];

/** All options of a mock node, except for the dialect of its API. */
export type OtherOptions = Omit<Options, 'dialect'>;

export interface MockNodeOptions extends OtherOptions {
  readonly dialect: Dialect;
}

export class MockNode extends UnnamedNode {
  constructor(options: MockNodeOptions, context?: MockNodeContext) {
    if (!DIALECTS.includes(options.dialect)) throw new TypeError('a test must name the dialect of its mock node');
    super(options, context);
  }
}

/**
 * @param options more fields of `--options`
 * @returns the arguments of `pickaxe mock-node`, for a node with this dialect only
 */
export function mockNodeArgs(dialect: Dialect, args: readonly string[] = [], options: OtherOptions = {}): string[] {
  return ['mock-node', ...args, '--options', JSON.stringify({ dialect, ...options })];
}
