/** Pictures, initials and links to platforms on the pages for people. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/processes/browser.ts";
import {
  findBarriers,
  measureOverflow,
  setColourScheme,
  startDashboard,
  takePicture,
  waitForPage,
  type Dashboard,
} from "../support/processes/dashboard.ts";
import { sendPicture, startOutside } from "../support/network/outside-server.ts";
import { NOW } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

const YOUTUBE_ID = "UCLA_DiR1FfKNvjuUpBHmylQ";
const CHANNELS = 60;
const AT = { observedAt: new Date(NOW).toISOString() };
const SHORT_URL = "https://www.youtube.com/shorts/dQw4w9WgXcQ";
const TITLED = ".head .picture";

/** Responses that wait until a test sends them. */
const held: ServerResponse[] = [];

describe.skipIf(!hasBrowser())("pictures on the pages", () => {
  let dashboard: Dashboard;
  let outside: Awaited<ReturnType<typeof startOutside>>;
  beforeAll(async () => {
    outside = await startOutside({
      ...Object.fromEntries(
        Array.from({ length: CHANNELS }, (_, nth) => [`/channel/${nth}`, sendPicture()]),
      ),
      "/held": (_, response) => void held.push(response),
      "/picture": sendPicture(),
    });
    const { fetchOptions: pictureFetch, toLink } = outside;
    dashboard = await startDashboard({ days: 0, pictureFetch });
    await dashboard.service.observe(
      ...Array.from({ length: CHANNELS }, (_, nth) => ({
        kind: "channel",
        id: `channel ${nth}`,
        username: `Channel ${nth}`,
        subscribers: 1000 - nth,
        thumbnail: toLink(`/channel/${nth}`),
        ...AT,
      })),
      { kind: "channel", id: YOUTUBE_ID, username: "NASA", subscribers: 9000, ...AT },
      {
        kind: "short",
        channel: YOUTUBE_ID,
        id: "dQw4w9WgXcQ",
        title: "A launch",
        publishedAt: AT.observedAt,
        thumbnail: toLink("/picture"),
        ...AT,
      },
      { kind: "user", username: "nasa", profile_image_url: toLink("/held"), ...AT },
      { kind: "user", username: "evil", displayName: "\u202e<b>x</b> \u0645\u0631", ...AT },
      { kind: "user", username: "gone", profile_image_url: toLink("/gone"), ...AT },
      {
        kind: "tweet",
        username: "nasa",
        id: "12",
        text: "Lift off",
        created_at: AT.observedAt,
        url: "https://x.com/NASA/status/12",
        ...AT,
      },
    );
  }, 60_000);
  afterAll(async () => {
    await dashboard.close();
    await outside.close();
  });

  const countImages = (page: Page) => page.locator(".picture img").count();

  test("stand beside the names of a list, and are loaded as far as one looks", async () => {
    const { page, faults, close } = await dashboard.visit("/channels");
    await page.locator("tr:nth-child(2) .picture img").waitFor();
    expect(await page.locator("tr:nth-child(1) .picture img").count()).toBe(0);
    expect(await page.locator(".picture").first().getAttribute("data-initials")).toBe("N");
    await waitUntil(async () => (await countImages(page)) > 5);
    await waitUntil(() =>
      page.evaluate<boolean>(
        `[...document.querySelectorAll(".picture img")].every((image) => image.naturalWidth === 1)`,
      ),
    );
    expect(outside.paths.length).toBeLessThan(40);
    await page.locator("tr").last().scrollIntoViewIfNeeded();
    await page.locator("tr:last-child .picture img").waitFor();
    expect(await page.locator("tr:nth-child(2) td").first().innerText()).toBe("Channel 0");
    expect(await findBarriers(page)).toEqual([]);
    await page.evaluate("scrollTo(0, 0)");
    await takePicture(page, "pictures-channels", { fullPage: false });
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("come without moving anything, and initials stand there until then", async () => {
    const { page, faults, close } = await dashboard.visit("/users/nasa");
    const measure = () =>
      page.evaluate<unknown>(
        `[...document.querySelectorAll("main *:not(img)")].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [element.className, x, y, width, height].join(" ");
        })`,
      );
    await waitUntil(() => held.length === 1);
    const before = await measure();
    expect(await countImages(page)).toBe(0);
    for (const response of held.splice(0)) sendPicture()(response.req, response);
    await page.locator(`${TITLED} img`).waitFor();
    expect(await measure()).toEqual(before);
    expect(await page.locator(TITLED).getAttribute("aria-hidden")).toBe("true");
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test("stand in the heads of items: a short's own, and that of a tweet's user", async () => {
    const { page, close } = await dashboard.visit(`/channels/${YOUTUBE_ID}/shorts/dQw4w9WgXcQ`);
    await page.locator(`${TITLED}.short img`).waitFor();
    await page.goto(`${dashboard.service.address}/users/nasa/tweets/12`);
    await page.locator(`${TITLED}.user img`).waitFor();
    await close();
  }, 60_000);

  test("are initials where there is none, or it cannot be fetched, in any script", async () => {
    const { page, close } = await dashboard.visit("/users/gone");
    expect(await page.locator(TITLED).getAttribute("data-initials")).toBe("G");
    await waitUntil(() => outside.paths.includes("/gone"));
    await page.goto(`${dashboard.service.address}/users/evil`);
    await waitForPage(page);
    expect(await page.locator(TITLED).getAttribute("data-initials")).toBe("BB");
    expect(await countImages(page)).toBe(0);
    await close();
  }, 60_000);

  test("have initials that can be read on a ground of any hue, light and dark", async () => {
    const { page, close } = await dashboard.visit("/users/evil");
    for (const scheme of ["light", "dark"] as const) {
      await setColourScheme(page, scheme);
      const contrasts = await page.evaluate<number[]>(MEASURE_CONTRASTS);
      expect(contrasts).toHaveLength(360);
      expect(Math.min(...contrasts)).toBeGreaterThan(4.5);
    }
    await close();
  }, 60_000);

  test("leave a list as narrow as the window of a phone", async () => {
    const viewport = { width: 390, height: 800 };
    const { page, close } = await dashboard.visit("/channels", undefined, { viewport });
    await page.locator("tr:nth-child(2) .picture img").waitFor();
    expect(await measureOverflow(page)).toBe(0);
    await takePicture(page, "pictures-channels-narrow");
    await close();
  }, 60_000);

  test("are not asked for with PICTURES=off: initials stand there", async () => {
    const off = await startDashboard({ days: 1 });
    const { page, faults, close } = await off.visit("/channels");
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    for (const path of ["/users", "/channels"]) {
      await page.goto(off.service.address + path);
      await waitForPage(page);
      expect(await page.locator("td .picture").count()).toBeGreaterThan(5);
    }
    await page.locator("td a").first().click();
    await page.locator(TITLED).waitFor();
    await waitForPage(page);
    expect(asked.filter((path) => path.startsWith("/api/pictures"))).toEqual([]);
    expect(await countImages(page)).toBe(0);
    expect(faults).toEqual([]);
    await close();
    await off.close();
  }, 60_000);

  test.each([
    [`/channels/${YOUTUBE_ID}`, "YouTube", `https://www.youtube.com/channel/${YOUTUBE_ID}`],
    [`/channels/${YOUTUBE_ID}/shorts/dQw4w9WgXcQ`, "YouTube", SHORT_URL],
    ["/users/nasa", "X", "https://x.com/NASA"],
  ])(
    "%s links to %s: %s",
    async (path, platform, href) => {
      const { page, close } = await dashboard.visit(path);
      const name = `${platform} ↗ (opens in a new tab)`;
      const link = page.locator("p a[target=_blank]");
      await link.waitFor();
      expect(await link.getAttribute("href")).toBe(href);
      expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
      expect(await link.textContent()).toBe(name);
      const accessible = `${platform} (opens in a new tab)`;
      expect(
        await page.getByRole("link", { name: accessible, exact: true }).count(),
      ).toBeGreaterThan(0);
      await close();
    },
    60_000,
  );

  test("rows of tweets link to the stored links, and users whose platform is unknown to none", async () => {
    const { page, close } = await dashboard.visit("/users/nasa");
    // One is shown in narrow windows, the other in wide ones.
    const link = page.getByRole("cell").getByRole("link", { name: "X (opens in a new tab)" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe("https://x.com/NASA/status/12");
    await page.goto(`${dashboard.service.address}/users/evil`);
    await waitForPage(page);
    expect(await page.locator("a[target=_blank]").count()).toBe(0);
    await close();
  }, 60_000);
});

/** Draws the colours of initials and of their grounds, whose form in CSS is not RGB. */
const MEASURE_CONTRASTS = `{
  const sample = document.querySelector(".head .picture");
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const measure = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  Array.from({ length: 360 }, (_, hue) => {
    sample.style.setProperty("--hue", String(hue));
    const { color, backgroundColor } = getComputedStyle(sample);
    const [dark, light] = [measure(color), measure(backgroundColor)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  });
}`;
