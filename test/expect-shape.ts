import { expect } from 'vitest';
import type { z } from 'zod';

/** Also fails for a field that the schema does not have, which parsing would drop. */
export function expectShape(schema: z.ZodType, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}
