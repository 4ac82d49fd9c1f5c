/** Bars in two colours: gains above the line, losses below it. Unfinished ones are hatched. */
import type uPlot from "uplot";
import type { ReadColour } from "./canvas.ts";
import { getUplot } from "./uplot.ts";

export function createBars(
  readColour: ReadColour,
  unfinishedFrom = Infinity,
  enlargement = 1,
): Partial<uPlot.Series> {
  const [gain, loss] = [readColour("--accent"), readColour("--loss")];
  const hatched = {
    [gain]: createHatching(gain, enlargement),
    [loss]: createHatching(loss, enlargement),
  };
  const paths = getUplot().paths.bars?.({
    size: [0.7, 24 * enlargement],
    disp: {
      fill: {
        unit: 3,
        values: (plot, index) =>
          Array.from(plot.data[index] ?? [], (value, row) => {
            const colour = (value ?? 0) < 0 ? loss : gain;
            const isFinished = (plot.data[0][row] ?? 0) * 1000 < unfinishedFrom;
            return isFinished ? colour : hatched[colour];
          }),
      },
    },
  });
  return { width: 0, fill: gain, ...(paths === undefined ? {} : { paths }) };
}

/** Creates a pattern of diagonal lines. uPlot accepts it as a colour, although its types do not. */
function createHatching(colour: string, enlargement: number): string {
  const size = Math.round(8 * enlargement);
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const context = canvas.getContext("2d");
  if (context === null) return colour;
  context.strokeStyle = colour;
  context.lineWidth = 2 * enlargement;
  // The outer lines continue in the neighbouring tiles.
  for (const offset of [-size, 0, size]) {
    context.moveTo(offset, size);
    context.lineTo(offset + size, 0);
  }
  context.stroke();
  const pattern: unknown = context.createPattern(canvas, "repeat");
  return (pattern as string | null) ?? colour;
}
