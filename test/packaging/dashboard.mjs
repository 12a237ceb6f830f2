// Reads the queries of a Grafana dashboard to Prometheus.

/** @returns the PromQL expressions of the panels, in order */
export function expressionsOf({ panels }) {
  return panels.flatMap(({ targets = [], panels: inner = [] }) => [
    ...targets.map(({ expr }) => expr),
    ...expressionsOf({ panels: inner }),
  ]);
}

/** Names of metrics in an expression, a histogram's under its own name: those that pickaxe has, or its runtime. */
export function metricsIn(expression) {
  const names = expression.match(/\b(?:pickaxe|process|nodejs)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}
