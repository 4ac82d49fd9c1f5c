/** Writes the name of each series beside its last point, at the right edge of a chart. */
import type uPlot from "uplot";
import { formatForCanvas } from "./canvas.ts";
import { spreadLabels } from "./label-positions.ts";

/** The height of a line of labels, in pixels of the page. */
const LINE = 15;

/** The most room for labels, in pixels and as a share of the width of the chart. */
const WIDTH_MAX = 150;
const SHARE_MAX = 0.28;

/** The room between the edge of the plot and the labels, for the lines that lead to them. */
const LEAD = 16;

interface LabelStyle {
  readonly font: string;
  readonly colour: string;
  /** How many pixels of the drawing a pixel of the page takes, the ratio of the screen aside. */
  readonly enlargement: number;
}

/** Creates the room at the right edge, and the hook of uPlot that draws into it. */
export function createEndLabels({ font, colour, enlargement }: LabelStyle) {
  /** The widths are those of pixels of the page. */
  const measureRoom = (chart: uPlot): number => {
    const { ctx } = chart;
    ctx.save();
    ctx.font = font;
    const widths = chart.series.slice(1).map(({ label }) => {
      const text = formatForCanvas(ctx, String(label), WIDTH_MAX * enlargement);
      return ctx.measureText(text).width;
    });
    ctx.restore();
    const most = Math.min(WIDTH_MAX * enlargement, chart.width * SHARE_MAX);
    return Math.ceil(Math.min(Math.max(0, ...widths), most)) + (LEAD + 2) * enlargement;
  };
  const draw = (chart: uPlot): void => {
    const { ctx, bbox } = chart;
    const ratio = chart.width === 0 ? 1 : ctx.canvas.width / chart.width;
    const unit = ratio * enlargement;
    const right = bbox.left + bbox.width;
    const ends = chart.series.flatMap((series, nth) => {
      const end = nth === 0 || series.show === false ? undefined : findEnd(chart, nth);
      return end === undefined ? [] : [{ ...end, series }];
    });
    const half = (LINE / 2) * unit;
    const ys = spreadLabels(
      ends.map(({ y }) => y),
      LINE * unit,
      half,
      Math.max(half, bbox.top + bbox.height - half / 2),
    );
    ctx.save();
    ctx.font = font.replace(/(\d+)px/, (_, size) => `${Number(size) * ratio}px`);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.direction = "ltr";
    for (const [index, { x, y, series }] of ends.entries()) {
      const labelY = ys[index] ?? y;
      const labelX = right + LEAD * unit;
      const { stroke } = series;
      ctx.strokeStyle = typeof stroke === "function" ? stroke(chart, index + 1) : (stroke ?? "");
      ctx.lineWidth = unit;
      // A line that ended before is not drawn on: dots lead from its end to its label.
      ctx.globalAlpha = 0.5;
      ctx.setLineDash(x < right ? [unit, 4 * unit] : []);
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(right + 3 * unit, y);
      ctx.lineTo(labelX - 3 * unit, labelY);
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour;
      const room = ctx.canvas.width - labelX - unit;
      ctx.fillText(formatForCanvas(ctx, String(series.label), room), labelX, labelY);
    }
    ctx.restore();
  };
  return { measureRoom, draw };
}

/** Finds the last shown point of a series, in pixels of the canvas. */
function findEnd(chart: uPlot, nth: number): { x: number; y: number } | undefined {
  const { min = 0, max = 0 } = chart.scales["x"] ?? {};
  const values = chart.data[nth] ?? [];
  const times = chart.data[0];
  for (let row = times.length - 1; row >= 0; row--) {
    const [time = 0, value] = [times[row], values[row]];
    if (value == null || time > max) continue;
    if (time < min) return undefined;
    return { x: chart.valToPos(time, "x", true), y: chart.valToPos(value, "y", true) };
  }
  return undefined;
}
