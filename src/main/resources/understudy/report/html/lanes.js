// <lane-chart path>: a row for each number, with bars from one time to another, by kind. Bars of a kind share
// the colour of its name.
'use strict';

kinds['lane-chart'] = (host) => {
  const LANE_PIXELS = 9;
  const rows = at(host.getAttribute('path'));
  const x = axisOf(host, 'x');
  const y = axisOf(host, 'y');
  const bars = (kind) => rows.flatMap(({ number, phases }) =>
    (phases[kind] ?? []).map((fromTo) => ({ y: String(number), x: fromTo })));
  const present = host.getAttribute('kinds').split(' ').filter((kind) => bars(kind).length > 0);
  draw(host, {
    type: 'bar',
    data: {
      labels: rows.map(({ number }) => String(number)),
      datasets: present.map((kind) => ({
        label: kind,
        ...painted(kind),
        data: bars(kind),
        grouped: false,
        barPercentage: 1,
        categoryPercentage: 0.8,
        minBarLength: 1,
      })),
    },
    options: {
      indexAxis: 'y',
      scales: {
        x: linear(x),
        y: scale(y, { ticks: { font: { size: 10 } } }),
      },
      plugins: {
        tooltip: { callbacks: {
          title: ([item]) => (item ? `${y.title} ${item.label}` : ''),
          label: (item) => {
            const [from, to] = item.raw.x;
            return `${item.dataset.label}: from ${withUnit(from, x.unit)}, for ${withUnit(to - from, x.unit)}`;
          },
        } },
      },
    },
  }, Math.max(240, 90 + LANE_PIXELS * rows.length));
};
