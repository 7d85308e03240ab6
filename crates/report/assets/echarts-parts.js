// The parts of Apache ECharts that iosonde's charts use. A chart that needs another part adds it here and runs
// build-echarts.sh; everything else is left out of the bundle.
import * as core from 'echarts/core';
import { CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
} from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';

core.use([
  AriaComponent,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  SVGRenderer,
  ScatterChart,
  TitleComponent,
  TooltipComponent,
]);

export const { init, version } = core;
