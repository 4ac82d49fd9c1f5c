#!/usr/bin/env bun
/** The installed program `creator-metrics`. */
import { main } from "./main.ts";

await main("creator-metrics");
