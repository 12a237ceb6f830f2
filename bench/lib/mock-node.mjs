// The mock node as benches start it: with the paths and headers of live nodes alone, unless a bench names document 1's.

import { MockNode as UnnamedNode } from '#pickaxe/mock-node/mock-node.js';

export class MockNode extends UnnamedNode {
  /** @param options and `context` of the mock node */
  constructor(options, context) {
    super({ dialect: 'chainweb', ...options }, context);
  }
}
