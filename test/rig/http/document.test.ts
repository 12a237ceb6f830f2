import { it } from 'vitest';
import { expectDocument } from './document.ts';
import { serve } from './serving.ts';

it('the OpenAPI document is as recorded', async () => {
  await expectDocument(new URL('document.json', import.meta.url), (await serve()).ask);
});
