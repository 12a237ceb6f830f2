import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { start } from '../../cli/pickaxe.ts';
import { PATIENCE } from '../../patience.ts';
import { figure, noBrowser, open, why } from './browser.ts';

describe.skipIf(noBrowser)(`the web page of a real run${why}`, () => {
  it('shows a miner at work, and pauses and resumes it', async () => {
    const http = ['--http', '127.0.0.1:0', '--http-control'];
    const run = start(['demo', '--devices', 'cpu', '--threads', '1', ...http]);
    onTestFinished(async () => {
      run.child.kill('SIGKILL');
      await run.code;
    });
    const url = await vi.waitFor(() => {
      const [, found] = /listening at (http:\S+?),/.exec(run.stderr) ?? [];
      expect(found, run.stderr).toBeDefined();
      return found;
    }, PATIENCE);
    const page = await open(url);
    await vi.waitFor(async () => expect(Number(await figure(page, 'accepted'))).toBeGreaterThan(0), PATIENCE);
    await vi.waitFor(async () => expect(await figure(page, 'window-10s')).toMatch(/H\/s$/), PATIENCE);
    await page.locator('.chart canvas').waitFor();
    expect(await page.locator('#state-text').textContent()).toBe('mining');
    expect(await page.locator('#sources li').textContent()).toContain('connected');
    expect(await page.locator('#chain-table tbody tr').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Pause cpu' }).click();
    await vi.waitFor(async () => expect(await page.locator('#state-text').textContent()).toBe('paused'), PATIENCE);
    await page.locator('.line', { hasText: 'paused: by an HTTP request' }).first().waitFor();
    await page.getByRole('button', { name: 'Resume all' }).click();
    await vi.waitFor(async () => expect(await page.locator('#state-text').textContent()).toBe('mining'), PATIENCE);
  });
});
