/** What every page must look like: one grid, one scale of type, one primary action, no sideways scroll. */
import type { Page } from "playwright-core";

/** The sizes of the type that `server/pages/style/tokens.css` names, in pixels. */
export const TYPE_SCALE_PX = [12, 14, 16, 20, 24] as const;

const MEASURE = `(() => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const getContentBox = (element) => {
    const { left, right } = element.getBoundingClientRect();
    const { paddingLeft, paddingRight } = getComputedStyle(element);
    return [left + parseFloat(paddingLeft), right - parseFloat(paddingRight)].map(Math.round);
  };
  const [header, main] = ["header", "main"].map((name) => document.querySelector(name));
  const sizes = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some(
      ({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== "",
    );
    if (!isShown(element) || !(hasText || element.matches("input, select"))) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    sizes.set(size, element.outerHTML.slice(0, 100));
  }
  return {
    header: getContentBox(header),
    main: getContentBox(main),
    lefts: [header.querySelector(".brand"), main.querySelector(".head, h1")]
      .filter((element) => element !== null && element.closest(".notice") === null)
      .map((element) => Math.round(element.getBoundingClientRect().left)),
    sizes: [...sizes],
    primaries: [...main.querySelectorAll(".primary")].filter(isShown).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
})()`;

interface Measures {
  readonly header: readonly number[];
  readonly main: readonly number[];
  /** The left edges of the brand and of the title, with its picture. */
  readonly lefts: readonly number[];
  /** Sizes of type in pixels, each with an element that has it. */
  readonly sizes: readonly (readonly [size: number, element: string])[];
  readonly primaries: number;
  readonly overflow: number;
}

/** Finds what is wrong with the look of a page in its window. */
export async function findLookFaults(page: Page): Promise<string[]> {
  const measures = await page.evaluate<Measures>(MEASURE);
  const { header, main, lefts, sizes, primaries, overflow } = measures;
  const scale: readonly number[] = TYPE_SCALE_PX;
  const faults = sizes.flatMap(([size, element]) =>
    scale.includes(size) ? [] : [`${size} px is not of the scale: ${element}`],
  );
  if (header.join() !== main.join()) faults.push(`header ${header}, but main ${main}`);
  if (new Set(lefts).size > 1) faults.push(`brand and title begin at ${lefts}`);
  if (primaries > 1) faults.push(`${primaries} primary actions`);
  if (overflow !== 0) faults.push(`${overflow} px wider than the window`);
  return faults;
}
