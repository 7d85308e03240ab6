// The page: charts answer when pointed at, with mouse, finger or keys; they zoom and hide lines; tables sort and are
// handed out as CSV. Without it the page reads and prints as well.
(() => {
  const root = document.documentElement;
  root.classList.add('scripted');
  const said = document.getElementById('said');
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const button = (text, label, act) => {
    const made = make('button', '', text);
    made.type = 'button';
    if (label) made.setAttribute('aria-label', label);
    made.addEventListener('click', act);
    return made;
  };

  // Text becomes a file without asking anybody: a link to the text itself.
  const handOut = (name, text) => {
    const link = make('a', '');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const cell = (text) => {
    const flat = text.replace(/\s+/g, ' ').trim();
    // A spreadsheet would run what begins like a formula; a minus before a digit is a number.
    const safe = /^[=+@]|^-(?!\d)/.test(flat) ? `'${flat}` : flat;
    return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const csvOf = (table) => [...table.rows].map((row) => [...row.cells].map((c) => cell(c.textContent)).join(',')).join('\n') + '\n';

  const enliven = (figure) => {
    const plot = figure.querySelector('.plot');
    const area = plot.querySelector('.area');
    const svg = area.querySelector('svg');
    const [, , W, H] = svg.getAttribute('viewBox').split(' ').map(Number);
    const hidden = new Set();
    let [x0, y0, w, h] = [0, 0, W, H];
    let current = -1;

    // Whatever can be pointed at, with its place; the browser's own tips would come on top of ours.
    const targets = [...svg.querySelectorAll('.d, .c')].map((shape) => {
      const title = shape.querySelector('title');
      const lines = title.textContent.split('\n');
      title.remove();
      const series = shape.closest('[data-s]')?.dataset.s;
      if (shape.tagName === 'path') {
        const [x, y] = shape.getAttribute('d').slice(1).split('h')[0].split(',').map(Number);
        return { shape, lines, series, x, y };
      }
      const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(shape.getAttribute(name)));
      return { shape, lines, series, x: x + width / 2, y, width, height };
    });
    const shown = (target) => !hidden.has(target.series)
      && target.x >= x0 - 1 && target.x <= x0 + w + 1 && target.y >= y0 - 1 && target.y <= y0 + h + 1;

    const tip = make('div', 'tip');
    tip.hidden = true;
    area.append(tip);
    const hide = () => { tip.hidden = true; svg.querySelector('.at')?.classList.remove('at'); current = -1; };
    const show = (index, aloud) => {
      const target = targets[index];
      svg.querySelector('.at')?.classList.remove('at');
      target.shape.classList.add('at');
      current = index;
      tip.replaceChildren(...target.lines.map((line) => make('div', '', line)));
      tip.hidden = false;
      const [left, top] = [(target.x - x0) / w * area.clientWidth, (target.y - y0) / h * area.clientHeight];
      const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
      const roomRight = left + 14 + wide <= area.clientWidth;
      tip.style.left = `${roomRight ? left + 14 : Math.max(left - wide - 14, area.clientWidth - wide < 0 ? area.clientWidth - wide : 0)}px`;
      tip.style.top = `${Math.min(Math.max(top - high / 2, -20), area.clientHeight - high)}px`;
      if (aloud) said.textContent = target.lines.join('; ');
    };
    const nearest = (event) => {
      const box = svg.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      let best = -1;
      let least = 34;
      targets.forEach((target, i) => {
        if (!shown(target)) return;
        const [x, y] = [(target.x - x0) / w * box.width, (target.y - y0) / h * box.height];
        if (target.width) {
          const half = target.width / w * box.width / 2;
          if (Math.abs(px - x) <= half && py >= y - 12 && py <= y + target.height / h * box.height) { best = i; least = 0; }
          return;
        }
        const distance = Math.hypot(px - x, py - y);
        if (distance < least) [best, least] = [i, distance];
      });
      return best;
    };

    // Zooming moves the window over the same shapes, and the words with it.
    const words = [...area.querySelectorAll('.word')].map((span) => ({
      span, x: parseFloat(span.style.left) / 100 * W, y: parseFloat(span.style.top) / 100 * H,
    }));
    const along = (share, low, size, whole) => (share * whole - low) / size * 100;
    const fresh = (holder, [low, high], from, size, upright) => {
      const [a, b] = [low + (high - low) * from, low + (high - low) * (from + size)];
      const raw = (b - a) / 5;
      const power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].find((times) => times * power >= raw) * power;
      for (let value = Math.ceil(a / step) * step; value <= b; value += step) {
        const span = make('span', 'fresh', String(Number(value.toPrecision(6))));
        const at = (value - a) / (b - a) * 100;
        span.style[upright ? 'top' : 'left'] = `${upright ? 100 - at : at}%`;
        holder.append(span);
      }
    };
    const view = () => {
      const zoomed = w < W;
      plot.classList.toggle('zoomed', zoomed);
      svg.setAttribute('viewBox', `${x0} ${y0} ${w} ${h}`);
      for (const [holder, low, size, whole, side, scale] of [
        [plot.querySelector('.columns-of-x'), x0, w, W, 'left', plot.dataset.x],
        [plot.querySelector('.rows'), y0, h, H, 'top', plot.dataset.y],
      ]) {
        holder.querySelectorAll('.fresh').forEach((span) => span.remove());
        const own = zoomed && scale;
        for (const span of holder.children) {
          const at = along(Number(span.dataset.at), low, size, whole);
          span.style[side] = `${at}%`;
          span.hidden = own || at < -1 || at > 101;
        }
        if (!own) continue;
        const from = side === 'left' ? low / whole : 1 - (low + size) / whole;
        fresh(holder, scale.split(' ').map(Number), from, size / whole, side === 'top');
      }
      for (const { span, x, y } of words) {
        const [left, top] = [(x - x0) / w * 100, (y - y0) / h * 100];
        span.style.left = `${left}%`;
        if (!span.classList.contains('header')) span.style.top = `${top}%`;
        span.hidden = left < -1 || left > 101 || (!span.classList.contains('header') && (top < -1 || top > 101)) || hidden.has(span.dataset.s);
      }
    };
    const zoom = (factor, cx = 0.5, cy = 0.5) => {
      const size = Math.min(1, Math.max(1 / 64, w / W * factor));
      const [px, py] = [x0 + w * cx, y0 + h * cy];
      [w, h] = [W * size, H * size];
      x0 = Math.min(Math.max(px - w * cx, 0), W - w);
      y0 = Math.min(Math.max(py - h * cy, 0), H - h);
      hide();
      view();
    };
    const pan = (dx, dy) => {
      x0 = Math.min(Math.max(x0 + dx * w, 0), W - w);
      y0 = Math.min(Math.max(y0 + dy * h, 0), H - h);
      view();
    };

    let held = null;
    area.addEventListener('pointermove', (event) => {
      if (held) {
        pan((held.x - event.clientX) / area.clientWidth, (held.y - event.clientY) / area.clientHeight);
        held = { x: event.clientX, y: event.clientY };
        return;
      }
      const index = nearest(event);
      if (index < 0) hide(); else if (index !== current) show(index, false);
    });
    area.addEventListener('pointerdown', (event) => {
      if (w < W && event.pointerType === 'mouse') { held = { x: event.clientX, y: event.clientY }; area.setPointerCapture(event.pointerId); }
    });
    area.addEventListener('pointerup', () => { held = null; });
    area.addEventListener('pointerleave', hide);
    area.addEventListener('blur', hide);
    area.addEventListener('dblclick', () => zoom(64));
    // With a key held: a wheel that only passes over the page goes on scrolling it.
    area.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = area.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });
    area.addEventListener('keydown', (event) => {
      const open = targets.map((target, i) => [target, i]).filter(([target]) => shown(target));
      const step = (to) => {
        if (open.length === 0) return;
        const at = open.findIndex(([, i]) => i === current);
        const next = at < 0 ? 0 : (at + to + open.length) % open.length;
        show(open[next][1], true);
      };
      const other = (to) => {
        const groups = [...new Set(open.map(([target]) => target.series))];
        const own = groups.indexOf(targets[current]?.series);
        const wanted = groups[(own + to + groups.length) % groups.length];
        const first = open.find(([target]) => target.series === wanted);
        if (first) show(first[1], true);
      };
      const keys = {
        ArrowRight: () => (event.shiftKey ? pan(0.2, 0) : step(1)),
        ArrowLeft: () => (event.shiftKey ? pan(-0.2, 0) : step(-1)),
        ArrowDown: () => (event.shiftKey ? pan(0, 0.2) : other(1)),
        ArrowUp: () => (event.shiftKey ? pan(0, -0.2) : other(-1)),
        '+': () => zoom(0.66), '=': () => zoom(0.66), '-': () => zoom(1.5), 0: () => zoom(64),
        Escape: hide,
      };
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); keys[event.key](); }
    });

    figure.querySelectorAll('.legend button').forEach((key) => key.addEventListener('click', () => {
      const on = key.getAttribute('aria-pressed') !== 'true';
      key.setAttribute('aria-pressed', on);
      if ('trials' in key.dataset) { plot.classList.toggle('with-trials', on); return; }
      if (on) hidden.delete(key.dataset.s); else hidden.add(key.dataset.s);
      svg.querySelector(`g[data-s="${key.dataset.s}"]`)?.toggleAttribute('hidden', !on);
      hide();
      view();
    }));

    const title = figure.querySelector('h3').textContent;
    const tools = make('div', 'tools');
    tools.append(
      button('+', `Zoom in: ${title}`, () => zoom(0.66)),
      button('−', `Zoom out: ${title}`, () => zoom(1.5)),
      button('reset', `Reset the zoom: ${title}`, () => zoom(64)),
      button('CSV', `Figures as CSV: ${title}`, () => handOut(`${figure.id}.csv`, figure.querySelector('script').textContent)),
    );
    figure.querySelector('.axis-name.under').after(tools);
  };

  // What is far down the page answers when it comes near, so that the first screen does not wait for it.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((e) => e.isIntersecting)) {
      near.unobserve(entry.target);
      enliven(entry.target);
    }
  }, { rootMargin: '600px' });
  document.querySelectorAll('figure.chart').forEach((figure) => near.observe(figure));

  // Every other table as CSV, too.
  document.querySelectorAll('.scroll').forEach((holder) => {
    if (holder.closest('figure.chart')) return;
    const name = (holder.getAttribute('aria-label') ?? 'table').toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const tools = make('div', 'tools');
    tools.append(button('CSV', `${holder.getAttribute('aria-label')} as CSV`, () => handOut(`${name}.csv`, csvOf(holder.querySelector('table')))));
    if (holder.querySelector('table')) holder.after(tools);
  });

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
  document.querySelectorAll('th button').forEach((sorter) => sorter.addEventListener('click', () => {
    const head = sorter.closest('th');
    const ascending = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
    const body = head.closest('table').tBodies[0];
    const rows = [...body.rows];
    rows.sort((a, b) => compare(a.cells[head.cellIndex], b.cells[head.cellIndex]) * (ascending ? 1 : -1));
    body.append(...rows);
  }));
})();
