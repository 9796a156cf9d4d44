// <line-chart>: lines through points. With x-scale="log" its x axis is logarithmic; with the attribute changing, series
// that never change are left out. The unit "ms or s" is seconds where a value is as long: one of the axis, or of the curve
// that the attribute unit-of names, whose xs are the values.
'use strict';

kinds['line-chart'] = (host) => {
  const series = seriesOf(host).filter((each) => !host.hasAttribute('changing') || !isConstant(each));
  if (series.length === 0) {
    host.remove();
    return;
  }
  const x = axisOf(host, 'x');
  const y = axisOf(host, 'y');
  const scaled = (axis, numbers) => {
    if (axis.unit !== 'ms or s') {
      return numbers;
    }
    const deciding = host.hasAttribute('unit-of') ? at(host.getAttribute('unit-of')).xs : numbers.flat();
    const isLong = deciding.some((millis) => millis >= 1000);
    axis.unit = isLong ? 's' : 'ms';
    return isLong ? numbers.map((all) => all.map((millis) => (millis === null ? null : millis / 1000))) : numbers;
  };
  const isLog = host.getAttribute('x-scale') === 'log';
  // A logarithmic axis has no place for 0, and no distribution is interesting there.
  const from = (each) => (isLog ? each.xs.findIndex((value) => value > 0) : 0);
  const shown = (each, values) => (from(each) < 0 ? [] : values.slice(from(each)));
  const xs = scaled(x, series.map((each) => shown(each, each.xs)));
  const ys = scaled(y, series.map((each) => shown(each, each.ys)));
  draw(host, {
    type: 'line',
    data: {
      datasets: series.map((each, i) => ({
        label: each.name,
        ...painted(each.color),
        data: xs[i].map((value, j) => ({ x: value, y: ys[i][j] })),
        pointRadius: xs[i].length > 24 ? 0 : 3,
        pointHitRadius: 8,
        borderWidth: 1.8,
        borderJoinStyle: 'round',
      })),
    },
    options: {
      parsing: false,
      normalized: true,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: isLog ? logarithmic(x, xs.flat()) : linear(x),
        y: scale(y, { beginAtZero: true }),
      },
      plugins: {
        tooltip: { callbacks: {
          title: ([item]) => (item ? withUnit(item.parsed.x, x.unit) : ''),
          label: (item) => `${item.dataset.label}: ${withUnit(item.parsed.y, y.unit)}`,
        } },
      },
    },
  });
};

// <line-charts path>: a chart for each entry, which has a title and series.
kinds['line-charts'] = (host) => {
  const path = host.getAttribute('path');
  const charts = at(path).map(({ title }, i) => element('line-chart', {
    name: `${host.getAttribute('name')}-${i}`, title, x: at(host.getAttribute('x')), y: title,
  }, element('data', { value: `${path}.${i}.series` })));
  host.replaceWith(...charts);
  charts.forEach(kinds['line-chart']);
};
