import { describe, expect, test } from "bun:test";
import { findChannel } from "../../core/channels.ts";

describe("findChannel()", () => {
  const channels = [
    { id: "UC1", username: "NASA", observedAt: 5 },
    { id: "UC3", username: "nasa", observedAt: 7 },
    { id: "UC2", username: "Nasa", observedAt: 7 },
    { id: "UC4", username: null, observedAt: 9 },
    { id: "nasa", username: "esa", observedAt: 1 },
    { id: "UC5", username: "UC4", observedAt: 9 },
  ];
  const find = (name: string) => [
    findChannel(name, channels)?.id,
    findChannel(name, channels.toReversed())?.id,
  ];

  test("finds the channel with this identifier, whatever others are called", () => {
    expect(find("UC4")).toEqual(["UC4", "UC4"]);
    expect(find("nasa")).toEqual(["nasa", "nasa"]);
  });

  test("finds the channel with this username that was observed last, then the smaller one", () => {
    expect(find("NaSa")).toEqual(["UC2", "UC2"]);
    expect(find("ESA")).toEqual(["nasa", "nasa"]);
    expect(findChannel("NaSa", channels.slice(0, 1))?.id).toBe("UC1");
  });

  test("finds nothing by the identifier in another case, nor by no name", () => {
    expect(find("uc1")).toEqual([undefined, undefined]);
    expect(find("null")).toEqual([undefined, undefined]);
  });
});
