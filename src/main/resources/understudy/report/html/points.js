// <cell-charts path models>: points over two logarithmic axes, a chart for each GPU, latency model and metric: what was
// measured and what was emulated, by model, and the line on which both are equal. Each point tells its cell.
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
        tooltip: { callbacks: { label: ({ dataset, raw }) => [
          `${dataset.label} ${raw.cell ?? ''}`,
          `${x.title} ${withUnit(raw.x, 'ms')}, ${y.title} ${withUnit(raw.y, 'ms')}, ${signed.format(raw.y / raw.x - 1)}`,
        ] } },
      },
    },
  });
};

const signed = new Intl.NumberFormat('en', { style: 'percent', signDisplay: 'always', minimumFractionDigits: 1 });

kinds['cell-charts'] = (host) => {
  const cells = at(host.getAttribute('path')).filter((cell) => !cell.short_of_kv);
  const shortName = ({ setup }) => setup.model.slice(setup.model.lastIndexOf('/') + 1);
  const inShort = ({ setup }) => [setup.parallelism, setup.version, `${setup.input_tokens}/${setup.output_tokens}`]
    .filter((part) => part !== '').join(' ') + ` x ${setup.concurrency}`;
  const names = [...new Set(cells.map(shortName))].sort();
  const gpus = [...new Set(cells.map(({ setup }) => setup.gpu))].sort();
  const series = (gpu, model, key) => names
    .map((name) => ({
      label: name,
      data: cells.filter((cell) => cell.setup.gpu === gpu && shortName(cell) === name).flatMap((cell) => cell.runs
        .filter((run) => run.latency_model === model)
        .map((run) => ({ x: cell[`measured_${key}`], y: run[key], cell: inShort(cell) }))),
    }))
    .filter(({ data: pairs }) => pairs.length > 0);
  const charts = gpus.flatMap((gpu, g) => at(host.getAttribute('models')).flatMap((model, m) =>
    ['TPOT', 'TTFT'].map((metric) => {
      const name = `${metric.toLowerCase()}-${g}-${m}`;
      const title = [metric, gpu, model].filter((part) => part !== '').join(', ');
      return { place: element('cell-chart', { name, title }), metric, series: series(gpu, model, `mean_${metric.toLowerCase()}_ms`) };
    })));
  host.replaceWith(...charts.map(({ place }) => place));
  charts.forEach(({ place, metric, series: all }) => points(place, metric, all));
};
