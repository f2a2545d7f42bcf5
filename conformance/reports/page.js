'use strict';
const table = document.querySelector('#matrix');
const rows = Array.from(table.tBodies[0].rows);
const value = (row, column) => {
  const own = row.cells[column].dataset.v;
  return own === undefined ? row.cells[column].textContent : Number(own);
};
table.tHead.rows[0].querySelectorAll('button').forEach((button, column) => button.addEventListener('click', () => {
  const head = button.parentElement;
  const was = head.getAttribute('aria-sort');
  const down = was === 'none' ? column !== 0 : was === 'ascending';
  for (const other of head.parentElement.cells) other.setAttribute('aria-sort', 'none');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const sign = down ? -1 : 1;
  rows.sort((a, b) => {
    const x = value(a, column), y = value(b, column);
    return x < y ? -sign : x > y ? sign : 0;
  });
  table.tBodies[0].append(...rows);
}));
const found = Array.from(document.querySelectorAll('[data-find]'));
const search = document.querySelector('#search');
const words = new Map(found.map(element => [element, element.textContent.toLowerCase()]));
search.addEventListener('input', () => {
  const wanted = search.value.toLowerCase().split(' ').filter(word => word);
  for (const [element, text] of words) element.hidden = !wanted.every(word => text.includes(word));
});
document.querySelector('#theme').addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
});
const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let element = target; element; element = element.parentElement) if (element.tagName === 'DETAILS') element.open = true;
  if (target) target.scrollIntoView();
};
addEventListener('hashchange', open);
open();
