/** The bars of charts of differences. */
import uPlot from "uplot";

/** Bars in two colours: gains above the line, losses below it. That of an unfinished time is hatched. */
export function createBars(
  readColour: (name: string) => string,
  unfinishedFrom = Infinity,
): Partial<uPlot.Series> {
  const [gain, loss] = [readColour("--accent"), readColour("--loss")];
  const hatched = { [gain]: createHatching(gain), [loss]: createHatching(loss) };
  const paths = uPlot.paths.bars?.({
    size: [0.7, 24],
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

/**
 * Creates diagonal lines in a colour.
 *
 * @returns A pattern. uPlot fills with any style of the canvas; its types name colours alone.
 */
function createHatching(colour: string): string {
  const size = 8;
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const context = canvas.getContext("2d");
  if (context === null) return colour;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  // The outer lines continue in the neighbouring tiles.
  for (const offset of [-size, 0, size]) {
    context.moveTo(offset, size);
    context.lineTo(offset + size, 0);
  }
  context.stroke();
  const pattern: unknown = context.createPattern(canvas, "repeat");
  return (pattern as string | null) ?? colour;
}
