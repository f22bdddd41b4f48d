/*
 * What is looked at in a browser: each function's text runs there, on its own. Answers are what is wrong, in words, and
 * nothing where all is well.
 */

/** Panels, and what is in the header, that lie on one another. */
export const overlaps = `(() => {
  const wrong = [];
  for (const parent of document.querySelectorAll('header, main, .tiles, .title, .row, .keys, .time, .buttons')) {
    const boxes = [...parent.children]
      .filter((child) => child.checkVisibility())
      .map((child) => [child, child.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 1 && height > 1);
    boxes.forEach(([a, one], at) => boxes.slice(at + 1).forEach(([b, two]) => {
      const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (across > 1 && down > 1) wrong.push(nameOf(a) + ' on ' + nameOf(b));
    }));
  }
  return wrong;
  function nameOf(of) { return of.id || of.className || of.tagName; }
})()`;

/** Words that are cut off, or outside of the page. */
export const unreadable = `(() => {
  const wrong = [];
  const width = document.documentElement.clientWidth;
  const labels = 'h1, h2, h3, button, label, dt, dd, .key, .value, .note, th, td, legend, #status, .figures li, .changes li';
  for (const each of document.querySelectorAll(labels)) {
    if (!each.checkVisibility() || each.closest('.hidden, .skip') || each.textContent.trim() === '') continue;
    const { left, right, width: own, height } = each.getBoundingClientRect();
    if (each.tagName === 'TH' && own <= 1) continue;
    const scrolled = each.closest('.scroll');
    if (own < 2 || height < 8) wrong.push('has no room: ' + each.textContent);
    else if (scrolled === null && (left < -0.5 || right > width + 0.5)) wrong.push('is outside: ' + each.textContent);
    else if (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline' &&
      getComputedStyle(each).overflowX !== 'visible') wrong.push('is cut off: ' + each.textContent);
  }
  return wrong;
})()`;

/** Text with less than 4.5 to 1 against what it stands on, and lines of charts with less than 3 to 1. */
export const poorContrasts = `(() => {
  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const wrong = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    const of = text.parentElement;
    if (text.data.trim() === '' || !of.checkVisibility() || of.closest('noscript, .hidden, .skip, .u-axis')) continue;
    // What cannot be used may be faint.
    if (of.closest(':disabled')) continue;
    const ratio = contrast(getComputedStyle(of).color, groundOf(of));
    if (ratio < 4.5) wrong.add(ratio.toFixed(2) + ': ' + text.data.trim() + ' (' + (of.className || of.tagName) + ')');
  }
  const style = getComputedStyle(document.documentElement);
  // Of the page, and of reports.
  for (const [line, ground] of [['--series-', '--panel'], ['--c', '--card']]) {
    for (let at = 0; style.getPropertyValue(line + at) !== ''; at++) {
      const ratio = contrast(style.getPropertyValue(line + at), style.getPropertyValue(ground));
      if (ratio < 3) wrong.add(ratio.toFixed(2) + ': ' + line + at);
    }
  }
  return [...wrong];

  function groundOf(of) {
    for (let at = of; at !== null; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (rgba(backgroundColor)[3] > 0.99) return backgroundColor;
    }
    return 'white';
  }
  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }
  function luminance(colour) {
    const [r, g, b] = rgba(colour).map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function rgba(colour) {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data].map((each) => each / 255);
  }
})()`;
