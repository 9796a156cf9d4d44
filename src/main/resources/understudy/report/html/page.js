// Data of the page, and what all kinds of sections share. Texts become text nodes, never HTML.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);

// Value at a path such as 'course.running'; undefined if there is none.
const at = (path) => path.split('.').reduce((value, key) => value?.[key], data);
const isThere = (path) => {
  const value = at(path);
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
};

const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
};

// Number or text for people. Counts are grouped; other numbers have as many decimals as are wanted.
const formatted = (value, { decimals = 0, unit = '', grouped = true }) => {
  if (typeof value !== 'number') {
    return value === null || value === undefined ? '' : String(value);
  }
  const text = new Intl.NumberFormat('en', {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: grouped,
  }).format(value);
  return unit === '' ? text : `${text} ${unit}`;
};

// Functions that put a section's content in the place of its element, by the element's name.
const kinds = {};

const show = () => {
  const page = document.getElementById('page').content.cloneNode(true);
  page.querySelectorAll('[data-if]').forEach((each) => isThere(each.dataset.if) || each.remove());
  page.querySelectorAll('[data-unless]').forEach((each) => isThere(each.dataset.unless) && each.remove());
  document.body.append(page);
  for (const [name, put] of Object.entries(kinds)) {
    document.querySelectorAll(name).forEach(put);
  }
  document.querySelectorAll('section[data-needs]').forEach((section) =>
    section.querySelector(section.dataset.needs) === null && section.remove());
};
