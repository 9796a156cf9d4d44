// <heat-map path>: tables of numbers, whose cells are the darker the higher they are.
'use strict';

kinds['heat-map'] = (host) => {
  const corner = host.getAttribute('corner') ?? '';
  const text = (number) => {
    const isWhole = Number.isInteger(number) || Math.abs(number) >= 1e4;
    return number === null ? '' : number.toFixed(isWhole ? 0 : 2);
  };
  const map = ({ title, first, second, numbers }) => {
    const known = numbers.flat().filter((number) => number !== null);
    const least = Math.min(...known);
    const width = Math.max(...known) - least;
    const cell = (number) => element('td',
      number === null ? {} : { style: `--share:${(width === 0 ? 0 : (number - least) / width).toFixed(3)}` },
      text(number));
    const head = [at(corner), ...second].map((each) => element('th', { scope: 'col' }, each));
    const rows = numbers.map((row, i) => element('tr', {}, element('th', { scope: 'row' }, first[i]), ...row.map(cell)));
    return element('div', { class: 'wide' }, element('table', { class: 'map' },
      element('caption', {}, title),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...rows)));
  };
  host.replaceWith(...at(host.getAttribute('path')).map(map));
};
