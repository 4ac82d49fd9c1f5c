/** Draws charts as a picture, as they are seen: title, range, legends and source; at twice the size. */
import type uPlot from "uplot";
import { formatUtc, type TimeScale } from "../format.ts";
import { createChartStyle, formatForCanvas, type ChartStyle } from "./canvas.ts";
import { arrangeRows, describeScale, type PlotData } from "./plot-data.ts";
import { createOptions, getColour } from "./plot-options.ts";
import { PLOT_HEIGHT, type Plot } from "./plot.ts";
import type { View } from "./view.ts";
import { getUplot } from "./uplot.ts";

/** Pixels of the picture for each pixel of the page. */
const SCALE = 2;

const PADDING = 20;

/** A part of the picture: its height, and what draws it. */
interface Block {
  readonly height: number;
  draw(context: CanvasRenderingContext2D, y: number): void;
}

interface PictureOptions {
  /** An element of the page whose width and colours the charts have. */
  readonly host: HTMLElement;
  readonly view: View | undefined;
  readonly heading: string;
  readonly period: string;
}

/** @param charts The drawn charts: a series that is hidden in one is not in the picture. */
export async function createPicture(
  charts: readonly Pick<Plot, "data" | "isShown">[],
  { host, view, heading, period }: PictureOptions,
): Promise<Blob> {
  const width = host.clientWidth;
  const style = createChartStyle(host);
  const { readColour, fontFamily } = style;
  const [text, muted] = [readColour("--text"), readColour("--muted")];
  const plots = charts.map(({ data, isShown }) => {
    const plot = drawEnlarged(data, view, width, style);
    for (const nth of data.series.keys()) plot.setSeries(nth + 1, { show: isShown(nth) });
    return { data, plot };
  });
  // uPlot draws in a microtask.
  await new Promise((done) => setTimeout(done));
  const write = (line: string, size: number, colour: string, weight = 400): Block => ({
    height: size * 1.5,
    draw(context, y) {
      context.font = `${weight} ${size}px ${fontFamily}`;
      context.fillStyle = colour;
      context.fillText(formatForCanvas(context, line, width), 0, y + size * 0.75);
    },
  });
  const timeScale = charts[0]?.data.timeScale ?? "utc";
  const blocks = [
    write(heading, 18, text, 600),
    write(period, 13, muted),
    { height: 8, draw: () => undefined },
    ...plots.flatMap(({ data, plot }) => [
      write(data.title, 14, text, 600),
      ...(data.isLog ? [write(describeScale(data), 12, muted)] : []),
      {
        height: PLOT_HEIGHT,
        draw: (context: CanvasRenderingContext2D, y: number) =>
          context.drawImage(plot.ctx.canvas, 0, y, width, PLOT_HEIGHT),
      },
      createLegend(data, plot, width, style),
    ]),
    write(describeSource(timeScale), 11, muted),
  ];
  const blob = await paint(blocks, width, readColour("--background"));
  for (const { plot } of plots) plot.destroy();
  return blob;
}

/** Draws a chart beside the page. A screen with more pixels enlarges it by itself. */
function drawEnlarged(
  data: PlotData,
  view: View | undefined,
  width: number,
  style: ChartStyle,
): uPlot {
  const enlargement = SCALE / devicePixelRatio;
  const rows = arrangeRows(data);
  const plot = new (getUplot())(
    {
      ...createOptions(data, rows, style, enlargement),
      width: Math.round(width * enlargement),
      height: Math.round(PLOT_HEIGHT * enlargement),
      cursor: { show: false },
      legend: { show: false },
    },
    [rows.times, ...rows.drawn] as uPlot.AlignedData,
    document.createElement("div"),
  );
  if (view !== undefined) plot.setScale("x", { min: view.from / 1000, max: view.to / 1000 });
  return plot;
}

const LEGEND_SIZE = 12;
const LEGEND_LINE = 20;

/** Creates the legend of a chart: the names and newest values, in as many lines as they need. */
function createLegend(
  data: PlotData,
  plot: uPlot,
  width: number,
  { readColour, fontFamily }: ChartStyle,
): Block {
  const context = plot.ctx;
  context.font = `${LEGEND_SIZE}px ${fontFamily}`;
  let [x, line] = [0, 0];
  const entries = data.series.flatMap(({ label }, nth) => {
    const { value, show } = plot.series[nth + 1] ?? {};
    if (show === false) return [];
    const shown = typeof value === "function" ? value(plot, NaN, nth + 1, null) : "";
    const name = formatForCanvas(context, label, Math.min(width / 2, 240));
    const [nameWidth, valueWidth] = [name, String(shown)].map(
      (text) => context.measureText(text).width,
    ) as [number, number];
    const entryWidth = 16 + nameWidth + 6 + valueWidth;
    if (x > 0 && x + entryWidth > width) [x, line] = [0, line + 1];
    const entry = { name, value: String(shown), x, line, valueX: x + 16 + nameWidth + 6 };
    x += entryWidth + 20;
    return [{ ...entry, colour: getColour(data, nth, readColour) }];
  });
  return {
    height: (line + 1) * LEGEND_LINE + 12,
    draw(target, top) {
      target.font = `${LEGEND_SIZE}px ${fontFamily}`;
      for (const entry of entries) {
        const y = top + (entry.line + 0.5) * LEGEND_LINE;
        target.fillStyle = entry.colour;
        target.fillRect(entry.x, y - 5, 10, 10);
        target.fillStyle = readColour("--muted");
        target.fillText(entry.name, entry.x + 16, y);
        target.fillStyle = readColour("--text");
        target.fillText(entry.value, entry.valueX, y);
      }
    },
  };
}

function describeSource(timeScale: TimeScale): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const zones = { utc: ["Days in UTC"], local: [`Times in ${timeZone}`], age: [] };
  const saved = formatUtc(Date.now()).replace(/:\d\d UTC/, " UTC");
  const address = location.host + location.pathname;
  return ["Creator metrics", address, ...zones[timeScale], `saved ${saved}`].join(" · ");
}

async function paint(blocks: readonly Block[], width: number, background: string): Promise<Blob> {
  const height = blocks.reduce((sum, block) => sum + block.height, 0);
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * PADDING) * SCALE;
  canvas.height = Math.ceil((height + 2 * PADDING) * SCALE);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser cannot draw a picture");
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(SCALE, SCALE);
  context.translate(PADDING, PADDING);
  context.textBaseline = "middle";
  context.direction = "ltr";
  let y = 0;
  for (const block of blocks) {
    block.draw(context, y);
    y += block.height;
  }
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  canvas.toBlob((blob) =>
    blob === null ? reject(new Error("The picture is too large")) : resolve(blob),
  );
  return promise;
}
