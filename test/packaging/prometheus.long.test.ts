import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expressionsOf, metricsIn } from './dashboard.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packaging = `${root}packaging/prometheus`;

const run = (program: string, args: string[], cwd = root) => {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 300_000 });
  return { status, error, output: `${stdout}${stderr}` };
};

const missing = ['promtool', 'prometheus'].find((program) => run(program, ['--version']).error);
if (missing && process.env.CI) throw new Error(`CI must try Prometheus: there is no ${missing}`);

describe.skipIf(missing)(
  `Prometheus${missing ? ` is not tried: apt-get install prometheus (no ${missing})` : ''}`,
  () => {
    it.each([
      ['check', 'rules', 'rules.yml'],
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', 'rules.test.yml'],
    ])('promtool %s %s %s', (...args) => {
      const { status, output } = run('promtool', args, packaging);
      expect(output).toContain('SUCCESS');
      expect([output, status]).toEqual([output, 0]);
    });

    it('scrapes a mining pickaxe, and has its figures', () => {
      const { status, output } = run(process.execPath, ['test/packaging/prometheus.mjs', '--seconds', '5', '--json']);
      const line = output.split('\n').find((each) => each.startsWith('{')) ?? '{}';
      const result = JSON.parse(line) as Record<string, unknown>;
      expect([output, result.faults]).toEqual([output, []]);
      expect(status).toBe(0);
      expect(result).toMatchObject({ failed: 0, rules: 12 });
      expect(Number(result.compared)).toBeGreaterThan(20);
      expect(Number(result.accepted)).toBeGreaterThan(0);
    });
  },
);

describe('the Grafana dashboard', () => {
  // biome-ignore lint/suspicious/noExplicitAny: Grafana's own format
  const dashboard = JSON.parse(readFileSync(`${root}packaging/grafana/pickaxe.json`, 'utf8')) as any;

  it('asks for pickaxe’s metrics, of the rig and source that are chosen', () => {
    const expressions = expressionsOf(dashboard);
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) {
      expect(metricsIn(expression).length).toBeGreaterThan(0);
      expect(expression).toContain('{job="$job", instance=~"$instance"');
    }
    for (const { datasource } of dashboard.panels) expect(datasource.uid).toMatch(/^\$\{datasource\}$/);
  });

  it('has panels that do not overlap, each with a title and a number of its own', () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(title).not.toBe('');
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), `${title} at ${x} ${y}`).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }: { id: number }) => id)).size).toBe(dashboard.panels.length);
  });
});
