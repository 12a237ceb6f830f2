import { it } from 'vitest';
import { expectDocument } from '../../../rig/http/document.ts';
import { ServedFleet } from './serving.ts';

it('the OpenAPI document of a fleet is as recorded', async () => {
  await expectDocument(new URL('document.json', import.meta.url), (await new ServedFleet(1).serve()).ask);
});
