/** Reads a saved picture of charts in a browser, which can decode it. */
import type { Page } from "playwright-core";

interface Picture {
  readonly width: number;
  readonly height: number;
  /** The red, green and blue of the first pixel. */
  readonly background: readonly number[];
  /** How many pixels have the colour of a series; texts and grids are nearly grey. */
  readonly colouredPixels: number;
  /** How many runs of pixel rows have something in them, with empty rows between. */
  readonly linesOfText: number;
}

export async function readPicture(page: Page, file: string): Promise<Picture> {
  const base64 = Buffer.from(await Bun.file(file).bytes()).toString("base64");
  return page.evaluate<Picture>(`(async () => {
    const bytes = Uint8Array.from(atob("${base64}"), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = bitmap;
    const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const background = [...data.subarray(0, 3)];
    let [colouredPixels, linesOfText, wasEmpty] = [0, 0, true];
    for (let y = 0; y < height; y++) {
      let isEmpty = true;
      for (let at = y * width * 4; at < (y + 1) * width * 4; at += 4) {
        const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
        if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) colouredPixels++;
        if (Math.abs(red - background[0]) + Math.abs(blue - background[2]) > 80) isEmpty = false;
      }
      if (wasEmpty && !isEmpty) linesOfText++;
      wasEmpty = isEmpty;
    }
    return { width, height, background, colouredPixels, linesOfText };
  })()`);
}
