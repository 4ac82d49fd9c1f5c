/** What is drawn on a canvas: colours of the style sheet and of series, and texts from outside. */

/** Reads a colour of the style sheet by the name of its property. */
export type ReadColour = (name: string) => string;

export interface ChartStyle {
  readonly fontFamily: string;
  readonly readColour: ReadColour;
}

/**
 * Reads the style inside of `host`, in light or dark. A canvas outside of the page would not know
 * which; so the value of a property itself would not do.
 */
export function createChartStyle(host: HTMLElement): ChartStyle {
  const known = new Map<string, string>();
  const readColour = (name: string) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const probe = host.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    known.set(name, color);
    return color;
  };
  return { readColour, fontFamily: getComputedStyle(host).fontFamily };
}

/** The colour of one of several series. The hues are far from each other, and equally bright. */
export const getSeriesColour = (nth: number, isDark: boolean): string =>
  `oklch(${isDark ? "0.76 0.14" : "0.56 0.17"} ${(255 + nth * 137.5) % 360})`;

/** No text of a chart is longer: measuring a long text takes time. */
const LENGTH_MAX = 120;

/**
 * Removes what is not a visible character, and cuts a text between characters as people see them.
 * A canvas draws each text by itself, so that one that turns the direction turns no other.
 *
 * @param room The most width, in pixels of the canvas.
 */
export function formatForCanvas(
  context: CanvasRenderingContext2D,
  text: string,
  room: number,
): string {
  const visible = text.slice(0, LENGTH_MAX * 4).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  const parts = Array.from(new Intl.Segmenter().segment(visible), ({ segment }) => segment);
  const isLong = parts.length > LENGTH_MAX;
  if (!isLong && context.measureText(visible).width <= room) return visible;
  let [fits, tooLong] = [0, Math.min(parts.length, LENGTH_MAX) + 1];
  const cut = (count: number) => `${parts.slice(0, count).join("")}…`;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (context.measureText(cut(middle)).width <= room) fits = middle;
    else tooLong = middle;
  }
  return cut(fits);
}
