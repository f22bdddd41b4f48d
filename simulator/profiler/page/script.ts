/** Runs in the page: sorting, the heat's metric, which listing is shown, the theme. Without it all is there, unsorted. */
export const SCRIPT = `'use strict';
document.querySelectorAll('table.sorts').forEach(function (table) {
  table.querySelectorAll('th').forEach(function (head, column) {
    var button = head.querySelector('button');
    if (!button) return;
    button.addEventListener('click', function () {
      var isDown = head.getAttribute('aria-sort') !== 'descending';
      table.querySelectorAll('th').forEach(function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      var body = table.tBodies[0];
      var rows = Array.from(body.rows).map(function (row, at) {
        var cell = row.cells[column];
        return { row: row, at: at, value: cell.dataset.v === undefined ? -Infinity : Number(cell.dataset.v) };
      });
      rows.sort(function (a, b) {
        return (a.value === b.value ? 0 : isDown === (a.value < b.value) ? 1 : -1) || a.at - b.at;
      });
      rows.forEach(function (each) { body.appendChild(each.row); });
    });
  });
});
document.querySelectorAll('select.heat').forEach(function (select) {
  select.addEventListener('change', function () {
    select.closest('section').setAttribute('data-heat', select.value);
  });
});
document.querySelectorAll('section').forEach(function (section) {
  var views = section.querySelectorAll('.view');
  var buttons = section.querySelectorAll('.views button');
  function show(at) {
    views.forEach(function (view, index) { view.hidden = index !== at; });
    buttons.forEach(function (button, index) { button.setAttribute('aria-pressed', String(index === at)); });
  }
  buttons.forEach(function (button, index) { button.addEventListener('click', function () { show(index); }); });
  if (views.length > 1) show(0);
  section.addEventListener('click', function (event) {
    var link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link) return;
    var row = document.getElementById(link.getAttribute('href').slice(1));
    var view = row && row.closest('.view');
    if (view) show(Array.from(views).indexOf(view));
    if (row) { row.tabIndex = -1; row.focus(); }
  });
});
document.getElementById('theme').addEventListener('click', function () {
  var root = document.documentElement;
  var isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
});
`;
