// <cell-charts path models>: points over two logarithmic axes, a chart for each latency model and metric: what was measured
// and what was emulated, by model, and the line on which both are equal.
'use strict';

const points = (host, metric, all) => {
  const x = { title: `measured ${metric}`, unit: 'ms' };
  const y = { title: `emulated ${metric}`, unit: 'ms' };
  const numbers = all.flatMap((series) => series.data.flatMap((point) => [point.x, point.y]));
  const ends = numbers.length > 0 ? [below(Math.min(...numbers)), above(Math.max(...numbers))] : [];
  draw(host, {
    type: 'scatter',
    data: {
      datasets: [
        ...all.map((series, i) => ({ ...series, ...painted(lineColor(i)) })),
        { label: 'equal', ...painted('muted'), data: ends.map((end) => ({ x: end, y: end })), showLine: true, pointRadius: 0, borderWidth: 1 },
      ],
    },
    options: {
      scales: { x: logarithmic(x, numbers), y: logarithmic(y, numbers) },
      plugins: {
        tooltip: { callbacks: { label: ({ dataset, parsed }) =>
          `${dataset.label}: ${x.title} ${withUnit(parsed.x, 'ms')}, ${y.title} ${withUnit(parsed.y, 'ms')}` } },
      },
    },
  });
};

kinds['cell-charts'] = (host) => {
  const cells = at(host.getAttribute('path')).filter((cell) => !cell.short_of_kv);
  const shortName = ({ setup }) => setup.model.slice(setup.model.lastIndexOf('/') + 1);
  const names = [...new Set(cells.map(shortName))].sort();
  const series = (model, key) => names
    .map((name) => ({
      label: name,
      data: cells.filter((cell) => shortName(cell) === name).flatMap((cell) => cell.runs
        .filter((run) => run.latency_model === model)
        .map((run) => ({ x: cell[`measured_${key}`], y: run[key] }))),
    }))
    .filter(({ data: pairs }) => pairs.length > 0);
  const charts = at(host.getAttribute('models')).flatMap((model, i) => ['TPOT', 'TTFT'].map((metric) => {
    const place = element('cell-chart', { name: `${metric.toLowerCase()}-${i}`, title: `${metric}, ${model}` });
    return { place, metric, series: series(model, `mean_${metric.toLowerCase()}_ms`) };
  }));
  host.replaceWith(...charts.map(({ place }) => place));
  charts.forEach(({ place, metric, series: all }) => points(place, metric, all));
};
