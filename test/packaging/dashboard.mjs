// Reads the queries of a Grafana dashboard to Prometheus.

/** @returns the PromQL expressions of the panels, in order */
export function expressionsOf({ panels }) {
  return panels.flatMap(({ targets = [], panels: inner = [] }) => [
    ...targets.map(({ expr }) => expr),
    ...expressionsOf({ panels: inner }),
  ]);
}

/** @returns the names of metrics in an expression, with a histogram's own name: metrics of pickaxe or of its runtime */
export function metricsIn(expression) {
  const names = expression.match(/\b(?:pickaxe|process|nodejs)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}
