// <hit-rate-chart path>: hit rates of policies over the capacity of a cache, each as a line, with those to compare with in
// grey. <hit-rate-table path>: the same as numbers. <reuse-chart path>: a histogram of reuse distances.
'use strict';

const capacityNames = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en');
const percent = (share) => `${(100 * share).toFixed(2)} %`;

kinds['hit-rate-chart'] = (host) => {
  const IDEALS = ['belady', 'belady-bypass', 'infinite'];
  const MARKS = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'cross', 'crossRot']; // as many as other policies
  const DASHES = [[9, 6], [3, 3], [10, 4]];
  const runs = at(host.getAttribute('path'));
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

  draw(host, {
    type: 'line',
    data: { datasets: [...new Set(runs.map((run) => run.policy))].map(dataset) },
    options: {
      interaction: { mode: 'x', intersect: false },
      plugins: {
        legend: { position: 'bottom', labels: { usePointStyle: true, boxHeight: 7, sort: (a, b) => a.datasetIndex - b.datasetIndex } },
        tooltip: {
          itemSort: (a, b) => b.parsed.y - a.parsed.y,
          callbacks: {
            title: (items) => `${whole.format(items[0].parsed.x)} blocks`,
            label: (item) => `${item.dataset.label} ${percent(item.parsed.y)}`,
          },
        },
      },
      scales: {
        x: scale({ title: 'capacity in blocks', unit: '' }, {
          type: 'logarithmic',
          min: 0.9 * capacities[0],
          max: 1.1 * capacities[capacities.length - 1],
          afterBuildTicks: (axis) => { axis.ticks = legible(axis.chart.width).map((value) => ({ value })); },
          ticks: { callback: (value) => capacityNames.format(value) },
        }),
        y: scale({ title: 'prompt tokens hit', unit: '' }, {
          beginAtZero: true,
          ticks: { callback: (value) => `${Math.round(1000 * value) / 10} %` },
        }),
      },
    },
  }, 420);
};

kinds['hit-rate-table'] = (host) => {
  const { capacities, policies, ideals, bound } = at(host.getAttribute('path'));
  const heads = ['Policy', ...(capacities.length === 0 ? ['any capacity'] : capacities.map((blocks) => whole.format(blocks)))];
  const text = (rate) => {
    if (rate === null) {
      return ['not defined'];
    }
    return rate.best ? ['best ', element('b', {}, percent(rate.share))] : [percent(rate.share)];
  };
  const row = (name, cells) => element('tr', {},
    element('th', { scope: 'row' }, name), ...cells.map((cell) => element('td', {}, ...cell)));
  const rows = (some) => some.map(({ policy, rates }) => row(policy, rates.map(text)));
  const bounds = bound === undefined
    ? []
    : [row('bound', bound.map((share) => [share === null ? 'not defined' : percent(share)]))];
  host.replaceWith(element('div', { class: 'wide' }, element('table', { id: host.getAttribute('name') },
    element('caption', {}, host.getAttribute('caption')),
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows(policies)),
    element('tbody', {}, ...rows(ideals), ...bounds))));
};

kinds['reuse-chart'] = (host) => {
  const distances = at(host.getAttribute('path'));
  draw(host, {
    type: 'bar',
    data: {
      labels: distances.map((bucket) => capacityNames.format(bucket.lru_blocks)),
      datasets: [{ label: 'reuses', ...painted('accent'), data: distances.map((bucket) => bucket.reuses) }],
    },
    options: {
      plugins: {
        tooltip: { callbacks: {
          title: ([item]) => `needs an LRU cache of up to ${whole.format(distances[item.dataIndex].lru_blocks)} blocks`,
          label: (item) => `${whole.format(item.parsed.y)} reuses; with all nearer ones ${percent(distances[item.dataIndex].share_of_accesses)} of accesses`,
        } },
      },
      scales: {
        x: scale({ title: 'blocks of the LRU cache that hits them, up to', unit: '' }, { ticks: {} }),
        y: scale({ title: 'reuses', unit: '' }, {
          beginAtZero: true,
          ticks: { callback: (value) => capacityNames.format(value) },
        }),
      },
    },
  });
};
