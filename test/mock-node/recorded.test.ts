/** The options of a mock node: their types, bounds and defaults. */

import { it } from 'vitest';
import { z } from 'zod';
import { optionsSchema } from '#pickaxe/mock-node/options.js';
import { recordIn, written } from '../recorded.ts';

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

it('the options of a mock node have the bounds and the defaults that are recorded', () => {
  const { properties = {} } = z.toJSONSchema(optionsSchema, { io: 'input', unrepresentable: 'any' });
  const options = Object.entries(properties).map(([input, option]) => ({ input, outcome: written(option) }));
  expectRecorded('options', options);
});
