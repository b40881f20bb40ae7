/** The page's own script: search, and folds that open in print. It handles text, never markup; without it only the search is missing. */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const search = document.getElementById('search');
  const said = document.getElementById('search-said');
  const found = document.getElementById('search-found');
  const block = document.getElementById('rollout-data');
  const rollouts = block ? JSON.parse(block.textContent) : [];
  document.querySelector('.search').hidden = false;
  const rows = [...document.querySelectorAll('tbody tr')].filter((row) => !found.contains(row));
  const MOST = 100;
  const cell = (row, tag, text) => { const one = document.createElement(tag); one.textContent = text; row.append(one); return one; };
  const nodesWith = (word) => rollouts.flatMap(({ workload, rows }) => rows.filter((row) => row.join(' ').toLowerCase().includes(word)).map((row) => [workload, ...row]));
  const show = (word) => {
    let count = 0;
    for (const row of rows) {
      const fits = word === '' || row.textContent.toLowerCase().includes(word);
      row.hidden = !fits;
      if (fits) count += 1;
      const fold = row.closest('section > details');
      if (fits && word !== '' && fold) fold.open = true;
    }
    const nodes = word === '' ? [] : nodesWith(word);
    const body = found.querySelector('tbody');
    body.replaceChildren(...nodes.slice(0, MOST).map(([workload, name, phase, course]) => {
      const row = document.createElement('tr');
      cell(row, 'th', name).scope = 'row';
      cell(row, 'td', phase).className = 'c-' + phase;
      cell(row, 'td', workload);
      cell(row, 'td', course);
      return row;
    }));
    found.hidden = nodes.length === 0;
    said.textContent = word === '' ? '' : count + ' rows' + (nodes.length > 0 ? ', ' + nodes.length + ' nodes or pods' + (nodes.length > MOST ? ' (the first ' + MOST + ' shown)' : '') : '');
  };
  let pending;
  search.addEventListener('input', () => { clearTimeout(pending); pending = setTimeout(() => show(search.value.trim().toLowerCase()), 120); });
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
    if (event.key === 'Escape' && document.activeElement === search) { search.value = ''; show(''); }
  });
  addEventListener('beforeprint', () => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
})();
`;
