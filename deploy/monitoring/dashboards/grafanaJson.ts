import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  TooltipDisplayMode,
  SortOrder,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Board, Line, Panel, Variable } from './board.js';

/** Whichever Prometheus the user chooses. */
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const TAG = 'windjammer';
/** Three panels beside one another: a dashboard is 24 wide. */
const SPAN = 8;
const HEIGHT = 7;

/** A line that is zero all the time is drawn, but not named: of many states and causes few are met with. */
const QUIET_ZEROS = {
  matcher: { id: 'byValue', options: { reducer: 'allIsZero', op: 'gte', value: 0 } },
  properties: [{ id: 'custom.hideFrom', value: { legend: true, tooltip: true, viz: false } }],
};

/** What Grafana imports, and reads from a provisioned folder. */
export function grafanaJson(board: Board): string {
  const builder = new DashboardBuilder(board.title)
    .uid(`windjammer-${board.name}`)
    .description(board.description)
    .tags([TAG])
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('10s')
    .time({ from: 'now-15m', to: 'now' })
    .link(
      new DashboardLinkBuilder('Windjammer')
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .keepTime(true)
        .includeVars(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  for (const each of variables(board.variables)) builder.withVariable(each);
  let id = 1;
  for (const { title, panels } of board.rows) {
    builder.withRow(new RowBuilder(title).id(id++));
    for (const panel of panels) builder.withPanel(timeSeries(panel, id++));
  }
  return `${JSON.stringify(builder.build(), undefined, 2)}\n`;
}

/** Each offers what is left by the choices before it. */
function variables(list: readonly Variable[]): readonly QueryVariableBuilder[] {
  return list.map(({ label, of }, index) => {
    const before = list.slice(0, index).map((each) => `${each.label}=~"$${each.label}"`);
    const selector = before.length === 0 ? of : `${of}{${before.join(',')}}`;
    const query = `label_values(${selector}, ${label})`;
    return new QueryVariableBuilder(label)
      .datasource(DATASOURCE)
      .query({ query, refId: 'StandardVariableQuery' })
      .definition(query)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.NumericalAsc)
      .multi(true)
      .includeAll(true)
      .allValue('.*')
      .current({ selected: true, text: ['All'], value: ['$__all'] });
  });
}

function timeSeries({ title, unit, description, lines, limit, isSigned }: Panel, id: number): PanelBuilder {
  const panel = new PanelBuilder()
    .id(id)
    .title(title)
    .unit(unit)
    .span(SPAN)
    .height(HEIGHT)
    .datasource(DATASOURCE)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (isSigned !== true) panel.min(0);
  panel.withOverride(QUIET_ZEROS);
  if (description !== undefined) panel.description(description);
  if (limit !== undefined) {
    panel
      .thresholds(
        new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
          { value: null, color: 'green' },
          { value: limit, color: 'red' },
        ]),
      )
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Line));
  }
  lines.forEach((each, index) => panel.withTarget(target(each, index)));
  return panel;
}

function target({ promql, legend, hasExemplars }: Line, index: number): DataqueryBuilder {
  const query = new DataqueryBuilder()
    .refId(String.fromCharCode(65 + index))
    .expr(promql)
    .legendFormat(legend)
    .range();
  return hasExemplars === true ? query.exemplar(true) : query;
}
