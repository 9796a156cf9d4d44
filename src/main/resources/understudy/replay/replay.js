// Draws the charts of a replay from the data in the page; the tables are there without.
'use strict';
(() => {
  const { runs, sharing } = JSON.parse(document.getElementById('data').textContent);
  const IDEALS = ['belady', 'belady-bypass', 'infinite'];
  const MARKS = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'cross', 'crossRot']; // as many as other policies
  const DASHES = [[9, 6], [3, 3], [10, 4]];
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat('en');
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const percent = (share) => `${(100 * share).toFixed(2)} %`;

  const capacities = [...new Set(runs.map((run) => run.cache_capacity_blocks).filter((blocks) => blocks !== null))]
    .sort((a, b) => a - b);
  if (capacities.length === 0) {
    capacities.push(runs[0].final_cache_blocks); // what no policy bounds needs a place on the axis all the same
  }
  const points = (policy) => runs
    .filter((run) => run.policy === policy)
    .flatMap((run) => (run.cache_capacity_blocks === null ? capacities : [run.cache_capacity_blocks])
      .map((x) => ({ x, y: run.overall_hit_rate })));

  // Names of capacities that are close to each other would stand on each other.
  const LABEL_PIXELS = 40;
  const legible = (width) => {
    const least = Math.log(capacities[capacities.length - 1] / capacities[0]) * LABEL_PIXELS / width;
    return capacities.reduce((kept, blocks) =>
      (kept.length === 0 || Math.log(blocks / kept[kept.length - 1]) >= least ? [...kept, blocks] : kept), []);
  };

  const painted = (colorName) => ({ colorName, borderColor: color(colorName), backgroundColor: color(colorName) });
  let numLines = 0;
  const dataset = (label) => {
    const ideal = IDEALS.indexOf(label);
    const line = ideal < 0 ? numLines++ : ideal;
    const isVariant = label.includes('-');
    return {
      label,
      ...painted(ideal < 0 ? `line-${line}` : `ideal-${ideal}`),
      data: points(label),
      // A variant often coincides with the policy it is one of: on top and with gaps, so that both are seen.
      order: isVariant ? 0 : 1,
      borderWidth: 2.5,
      borderDash: ideal < 0 ? (isVariant ? [8, 8] : []) : DASHES[ideal],
      pointStyle: ideal < 0 ? MARKS[line] : 'line',
      pointRadius: isVariant ? 4 : 5.5,
      pointBorderWidth: 1.5,
    };
  };

  const scale = (title, more) => ({ title: { display: true, text: title }, ticks: {}, grid: {}, ...more });
  const label = (item) => `${item.dataset.label} ${percent(item.parsed.y)}`;
  const ratesChart = new Chart(document.getElementById('rates-chart'), {
    type: 'line',
    data: { datasets: [...new Set(runs.map((run) => run.policy))].map(dataset) },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'x', intersect: false },
      plugins: {
        legend: { position: 'bottom', labels: { usePointStyle: true, boxHeight: 7, sort: (a, b) => a.datasetIndex - b.datasetIndex } },
        tooltip: {
          itemSort: (a, b) => b.parsed.y - a.parsed.y,
          callbacks: { title: (items) => `${whole.format(items[0].parsed.x)} blocks`, label },
        },
      },
      scales: {
        x: scale('capacity in blocks', {
          type: 'logarithmic',
          min: 0.9 * capacities[0],
          max: 1.1 * capacities[capacities.length - 1],
          afterBuildTicks: (axis) => { axis.ticks = legible(axis.chart.width).map((value) => ({ value })); },
          ticks: { callback: (value) => compact.format(value) },
        }),
        y: scale('prompt tokens hit', { beginAtZero: true, ticks: { callback: (value) => `${Math.round(1000 * value) / 10} %` } }),
      },
    },
  });

  const distances = sharing.reuse_distance;
  const reuseChart = new Chart(document.getElementById('reuse-chart'), {
    type: 'bar',
    data: {
      labels: distances.map((bucket) => compact.format(bucket.lru_blocks)),
      datasets: [{ label: 'reuses', ...painted('accent'), data: distances.map((bucket) => bucket.reuses) }],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: {
          title: ([item]) => `needs an LRU cache of up to ${whole.format(distances[item.dataIndex].lru_blocks)} blocks`,
          label: (item) => `${whole.format(item.parsed.y)} reuses; with all nearer ones ${percent(distances[item.dataIndex].share_of_accesses)} of accesses`,
        } },
      },
      scales: {
        x: scale('blocks of the LRU cache that hits them, up to', {}),
        y: scale('reuses', { beginAtZero: true, ticks: { callback: (value) => compact.format(value) } }),
      },
    },
  });

  const paint = () => {
    for (const chart of [ratesChart, reuseChart]) {
      chart.data.datasets.forEach((set) => Object.assign(set, painted(set.colorName)));
      chart.options.plugins.legend.labels.color = color('text');
      for (const axis of Object.values(chart.options.scales)) {
        axis.title.color = color('muted');
        axis.ticks.color = color('muted');
        axis.grid.color = color('border');
      }
      chart.update('none');
    }
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  paint();
})();
