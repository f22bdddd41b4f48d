import { BOTTOM, HEIGHT, TOP } from './lineChart.js';

/** Values under the pointer. The page is whole without it. */
export const SCRIPT = `
for (const chart of document.querySelectorAll('.chart')) {
  const svg = chart.querySelector('svg');
  const source = chart.querySelector('script');
  if (!svg || !source) continue;
  const series = JSON.parse(source.textContent).filter((one) => one.points.length > 0);
  const create = (name) => document.createElementNS('http://www.w3.org/2000/svg', name);
  const marks = create('g');
  svg.append(marks);
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  chart.append(tip);
  const hide = () => { tip.hidden = true; marks.replaceChildren(); };
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const found = series.map((one) => ({ one, point: one.points.reduce((best, point) =>
      Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best) }));
    if (found.length === 0) return;
    const nearest = found.reduce((best, next) => Math.abs(next.point[0] - at) < Math.abs(best.point[0] - at) ? next : best).point;
    marks.replaceChildren();
    const cursor = create('path');
    cursor.setAttribute('class', 'cursor');
    cursor.setAttribute('d', 'M' + nearest[0] + ' ${TOP}V${HEIGHT - BOTTOM}');
    marks.append(cursor);
    tip.replaceChildren(document.createTextNode(nearest[2]));
    for (const { one, point } of found) {
      const dot = create('circle');
      dot.setAttribute('class', 'dot c' + one.color);
      dot.setAttribute('cx', point[0]);
      dot.setAttribute('cy', point[1]);
      dot.setAttribute('r', 4);
      marks.append(dot);
      const row = document.createElement('div');
      const value = document.createElement('b');
      value.className = 'c' + one.color;
      value.textContent = point[3];
      const away = point[2] === nearest[2] ? '' : ' at ' + point[2];
      row.append(value, ' ' + one.name + away);
      tip.append(row);
    }
    tip.hidden = false;
    const inside = chart.getBoundingClientRect();
    const left = event.clientX - inside.left + 16;
    tip.style.left = Math.max(4, Math.min(left, inside.width - tip.offsetWidth - 6)) + 'px';
    tip.style.top = event.clientY - inside.top + 18 + 'px';
  });
}
`;
