// <bar-chart labels>: a bar for each label, side by side for several series.
'use strict';

kinds['bar-chart'] = (host) => {
  const x = axisOf(host, 'x');
  const y = axisOf(host, 'y');
  draw(host, {
    type: 'bar',
    data: {
      labels: at(host.getAttribute('labels')),
      datasets: seriesOf(host).map((each) => ({ label: each.name, ...painted(each.color), data: each.ys })),
    },
    options: {
      scales: {
        x: scale(x, { ticks: { maxRotation: 0 } }),
        y: scale(y, { beginAtZero: true }),
      },
      plugins: {
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${withUnit(item.parsed.y, y.unit)}` } },
      },
    },
  });
};

// <bar-charts path>: a chart for each entry, which has a name, a title, labels and series.
kinds['bar-charts'] = (host) => {
  const path = host.getAttribute('path');
  const charts = at(path).map(({ name, title, y = title }, i) => element('bar-chart', {
    name, title, labels: `${path}.${i}.labels`, y,
    'y-unit': host.getAttribute('y-unit') ?? '',
  }, element('data', { value: `${path}.${i}.series` })));
  host.replaceWith(...charts);
  charts.forEach(kinds['bar-chart']);
};
