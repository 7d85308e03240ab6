// What an option cannot say in JSON: the few functions that ECharts asks for, by name, and the colours, by what
// they stand for. Runs in a browser and in iosonde itself, which draws the same options as still pictures.
'use strict';

const iosondeCharts = (() => {
  const whisker = ({ colour }, colourOf) => (params, api) => {
    const style = { stroke: colourOf(colour), lineWidth: 1.25, fill: 'none' };
    const [x, y, left, right, low, high] = [0, 1, 2, 3, 4, 5].map((i) => api.value(i));
    const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style, silent: true });
    const children = [];
    if (Number.isFinite(low) && Number.isFinite(high)) {
      const [[a, from], [, to]] = [api.coord([x, low]), api.coord([x, high])];
      children.push(line(a, from, a, to), line(a - 3, from, a + 3, from), line(a - 3, to, a + 3, to));
    }
    if (Number.isFinite(left) && Number.isFinite(right)) {
      const [[from, b], [to]] = [api.coord([left, y]), api.coord([right, y])];
      children.push(line(from, b, to, b), line(from, b - 3, from, b + 3), line(to, b - 3, to, b + 3));
    }
    return { type: 'group', children };
  };

  const band = ({ outline, colour }, colourOf) => (params, api) => ({
    type: 'polygon',
    shape: { points: outline.map((point) => api.coord(point)) },
    style: { fill: colourOf(colour), opacity: 0.13 },
    silent: true,
  });

  // Elements instead of markup: a label is text, whatever it contains.
  const tip = () => (params) => {
    const lines = params.data && params.data.tip;
    if (!lines) return '';
    const box = document.createElement('div');
    lines.forEach((text, i) => {
      const line = document.createElement('div');
      line.textContent = text;
      line.className = i === 0 ? 'tip-head' : 'tip-line';
      box.append(line);
    });
    return box;
  };

  // A log axis hands its ticks back with the rounding of exp and log in them.
  const near = (value) => String(Number(Number(value).toPrecision(9)));
  const ticks = ({ labels }) => (value) => labels[near(value)] ?? '';

  const functions = { whisker, band, tip, ticks };

  const hydrate = (value, colourOf) => {
    if (Array.isArray(value)) return value.map((item) => hydrate(item, colourOf));
    if (value === null || typeof value !== 'object') return value;
    if ('$colour' in value) return colourOf(value.$colour);
    if ('$function' in value) return functions[value.$function](value, colourOf);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hydrate(item, colourOf)]));
  };

  // How wide a legend's name is: measured where there is something to measure with, else the mean of a letter.
  const wide = (name, font) => {
    if (typeof document === 'undefined') return name.length * 6.8;
    const context = document.createElement('canvas').getContext('2d');
    context.font = `13px ${font}`;
    return context.measureText(name).width;
  };

  // Room above the plot: rows of the legend, the name of the y axis, and the labels of upright marks.
  const fit = (option, width) => {
    let [rows, used] = [1, 8];
    for (const name of option.legend.data) {
      // 45: the symbol, the gap behind it, the gap to the next.
      const item = wide(name, option.textStyle.fontFamily) + 45;
      if (used + item > width && used > 8) [rows, used] = [rows + 1, 8];
      used += item;
    }
    const upright = option.series.flatMap((series) => series.markLine?.data ?? []).filter((mark) => 'xAxis' in mark);
    const top = rows * 25 + 8;
    return {
      ...option,
      legend: { ...option.legend, width: width - 16 },
      title: { ...option.title, top },
      grid: { ...option.grid, top: top + 30 + 15 * Math.min(upright.length, 3) },
    };
  };

  // The same chart as a string of SVG. Ids get the figure's name, since several share one document.
  const still = (json, width, height, prefix, colours) => {
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
    chart.setOption(fit(hydrate(JSON.parse(json), (name) => colours[name]), width));
    const svg = chart.renderToSVGString();
    chart.dispose();
    return svg.replace(/zr\d+-/g, `${prefix}-`);
  };

  return { hydrate, fit, still };
})();
