import { expect } from 'vitest';
import type { z } from 'zod';

/** Fails for a field that the schema does not have, too: parsing drops it. */
export function expectShape(schema: z.ZodType, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}
