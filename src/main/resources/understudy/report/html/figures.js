// Single figures, the facts of a page's head, verdicts, lists of texts, and blocks of lines as the console has them.
'use strict';

// <span data-figure="path">: a value. With data-of it is its share of another one, or of 1, in
// percent.
kinds['[data-figure]'] = (host) => {
  const { figure, of, decimals = 0, unit = '', grouped } = host.dataset;
  const value = at(figure);
  const whole = of === '1' ? 1 : of && at(of);
  const shown = of === undefined ? value : 100 * (whole === 0 ? 0 : value / whole);
  host.textContent = formatted(shown, { decimals: Number(decimals), unit, grouped: grouped !== 'no' });
};

// <fact-list path>: pairs of a name and a value.
kinds['fact-list'] = (host) => host.replaceWith(...at(host.getAttribute('path')).map(([name, value]) =>
  element('div', {}, element('dt', {}, name), element('dd', {}, value))));

// <verdict-list path>: lines that say whether all is well.
kinds['verdict-list'] = (host) => host.replaceWith(...at(host.getAttribute('path')).map(({ good, text }) =>
  element('p', { class: `verdict ${good ? 'good' : 'bad'}` }, text)));

kinds['text-list'] = (host) => host.replaceWith(
  element('ul', {}, ...at(host.getAttribute('path')).map((line) => element('li', {}, line))));

// <figure-blocks path>: lines under headings.
kinds['figure-blocks'] = (host) => host.replaceWith(...at(host.getAttribute('path')).map(({ title, lines }) =>
  table({
    columns: [{ title, words: true }, { title: '', words: false }],
    rows: lines,
  })));
