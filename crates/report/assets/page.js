// The page: still charts become live ones, and tables sort. Without it the page reads and prints as well.
(() => {
  const root = document.documentElement;
  root.classList.add('scripted');

  const colourOf = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const options = JSON.parse(document.getElementById('figures').textContent);
  const charts = new Map();

  const draw = (holder) => {
    const { chart, option } = charts.get(holder);
    const width = holder.clientWidth;
    chart.resize();
    chart.setOption(iosondeCharts.fit(iosondeCharts.hydrate(option, colourOf), width), true);
    chart.getZr().flush();
  };

  const enliven = (holder) => {
    if (charts.has(holder)) return;
    const live = document.createElement('div');
    live.className = 'live';
    holder.append(live);
    const chart = echarts.init(live, null, { renderer: 'svg' });
    charts.set(holder, { chart, option: options[holder.dataset.figure] });
    draw(holder);
    holder.classList.add('is-live');
    let known = holder.clientWidth;
    new ResizeObserver(() => {
      if (holder.clientWidth === known || holder.clientWidth === 0) return;
      known = holder.clientWidth;
      draw(holder);
    }).observe(holder);
  };

  // What is far down the page becomes live when it comes near, so that the first screen does not wait for it.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((e) => e.isIntersecting)) {
      near.unobserve(entry.target);
      enliven(entry.target);
    }
  }, { rootMargin: '800px' });
  document.querySelectorAll('.chart').forEach((holder) => near.observe(holder));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach((_, holder) => draw(holder)));

  // Cells are sorted by what they say: a number in its unit, or else the text.
  const FACTOR = {
    'IOPS': 1, 'k IOPS': 1e3, 'M IOPS': 1e6, 'G IOPS': 1e9,
    'B/s': 1, 'kB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9, 'TB/s': 1e12,
    'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9,
  };
  const valueOf = (cell) => {
    const parts = /^(-?[\d.,]+)(?:\s(.+))?$/.exec(cell.textContent.trim());
    return parts ? Number(parts[1].replaceAll(',', '')) * (FACTOR[parts[2]] ?? 1) : NaN;
  };
  const compare = (a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return a.textContent.localeCompare(b.textContent, 'en', { numeric: true });
    // What has no number comes last when ascending.
    return (Number.isNaN(x) ? Infinity : x) - (Number.isNaN(y) ? Infinity : y) || 0;
  };
  document.querySelectorAll('th button').forEach((button) => button.addEventListener('click', () => {
    const head = button.closest('th');
    const ascending = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
    const body = head.closest('table').tBodies[0];
    const rows = [...body.rows];
    rows.sort((a, b) => compare(a.cells[head.cellIndex], b.cells[head.cellIndex]) * (ascending ? 1 : -1));
    body.append(...rows);
  }));
})();
