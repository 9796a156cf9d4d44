// Tables: <data-table path> has the columns of its JSON, or those that it names: <data value="key">Title</data>, of the
// class words; of if-any, which is left out where all rows have 0; or of count, share or time.
'use strict';

const table = ({ caption = '', columns, rows }) => {
  const align = ({ words }) => (words ? { class: 'words' } : {});
  const head = element('tr', {}, ...columns.map((column) => element('th', { scope: 'col', ...align(column) }, column.title)));
  const body = rows.map((row) => element('tr', {}, ...row.map((cell, i) =>
    (i === 0
      ? element('th', { scope: 'row', ...align(columns[i]) }, cell ?? '')
      : element('td', align(columns[i]), cell ?? '')))));
  return element('div', { class: 'wide' }, element('table', {},
    ...(caption === '' ? [] : [element('caption', {}, caption)]),
    element('thead', {}, head),
    element('tbody', {}, ...body)));
};

const duration = (seconds) => {
  const [unit, name] = [[3600, 'h'], [60, 'min'], [1, 's']].find(([length]) => seconds >= length);
  return `${seconds / unit} ${name}`;
};

const declared = (columns, rows) => {
  const shown = columns.filter((column) =>
    !column.classList.contains('if-any') || rows.some((row) => row[column.value] > 0));
  const text = (column, value) => {
    if (column.classList.contains('share')) {
      return `${(100 * value).toFixed(2)} %`;
    }
    return column.classList.contains('time')
      ? duration(value)
      : formatted(value, { decimals: Number(column.dataset.decimals ?? 0), grouped: column.classList.contains('count') });
  };
  return {
    columns: shown.map((column) => ({ title: column.textContent, words: column.classList.contains('words') })),
    rows: rows.map((row) => shown.map((column) => text(column, row[column.value]))),
  };
};

kinds['data-table'] = (host) => {
  const content = at(host.getAttribute('path'));
  const columns = [...host.querySelectorAll('data')];
  host.replaceWith(table({
    caption: host.getAttribute('caption') ?? '',
    ...(columns.length === 0 ? content : declared(columns, content)),
  }));
};

// <result-parts path>: tables and words, in the order of the console.
kinds['result-parts'] = (host) => host.replaceWith(...at(host.getAttribute('path')).map((part) =>
  (typeof part === 'string' ? element('p', {}, part) : table(part))));
